import Glibc

/// Keeps every connection busy with one request at a time, and tells how long each took.
///
/// It is driven over its standard input and output: it says `ready NAME` before each measurement, waits for a line, and says
/// how the measurement went, as one JSON object.
@main
struct LoadGenerator {
    static func main() {
        guard let options = Options(Array(CommandLine.arguments.dropFirst())) else {
            fail("load healthz|send+confirm|pair|accounts --port N --connections N --seconds N --first N --outbox FILE")
        }
        let outbox = options.workload == .healthz ? nil : Outbox(options.outbox)
        if options.workload != .healthz, outbox == nil { fail("there is no outbox \(options.outbox)") }
        if options.workload == .accounts, let outbox {
            var run = AccountRun(options, outbox)
            return run.measureAll()
        }
        var run = LoadRun(options, outbox)
        switch options.workload {
        case .healthz: run.measure("healthz", .healthz)
        case .sendAndConfirm:
            run.measure("send", .send)
            run.measure("confirm", .confirm)
        case .pair: run.measure("pair", .pair)
        case .accounts: break
        }
    }

    static func fail(_ message: String) -> Never {
        let line = Array("load: \(message)\n".utf8)
        write(STDERR_FILENO, line, line.count)
        exit(2)
    }
}
