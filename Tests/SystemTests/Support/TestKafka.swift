import Foundation
import Testing

/// The Kafka that this run keeps the logs of its systems in, each under a prefix of its own. Without one they lie in Postgres.
struct TestKafka: Sendable {
    static let given: TestKafka? = {
        let environment = ProcessInfo.processInfo.environment
        return environment["LATCHKEY_TEST_KAFKA"].map { servers in
            TestKafka(
                servers: servers, command: environment["LATCHKEY_TEST_KAFKA_COMMAND"],
                folder: environment["LATCHKEY_TEST_KAFKA_FOLDER"], tool: environment["LATCHKEY_TEST_KAFKA_TOOL"])
        }
    }()

    /// What reads topics with keys and headers.
    private static let reader = "/usr/bin/kcat"
    static let canRead = FileManager.default.isExecutableFile(atPath: reader)

    /// `host:port`, comma-separated.
    let servers: String
    /// Kills and revives single brokers (`kill FOLDER N`, `revive FOLDER N`), where the caller said how.
    private let command: String?
    private let folder: String?
    /// Runs a class of Kafka's own commands (`tool CLASS ARGUMENT…`), where the caller said how.
    private let tool: String?

    struct CommandFailed: Error {
        var what: String
    }

    /// Whether single brokers can be killed here.
    var canKillBrokers: Bool { command != nil && folder != nil && servers.contains(",") }

    func kill(broker number: Int) async throws { try await brokers("kill", number) }

    func revive(broker number: Int) async throws { try await brokers("revive", number) }

    /// By the shell: Foundation's `Process` waits for the broker, too, that the command leaves behind.
    private func brokers(_ verb: String, _ number: Int) async throws {
        let (command, folder) = (command ?? "", folder ?? "")
        try await Program.blocking {
            guard system("'\(command)' \(verb) '\(folder)' \(number) > /dev/null") == 0 else { throw CommandFailed(what: verb) }
        }
    }

    var canDeleteRecords: Bool { tool != nil }

    /// Has a record stand at the end of a partition that says what an event says, as anybody can who may write to the broker.
    func forge(_ value: String, type: String, in topic: String, partition: Int) async throws {
        let headers = ["ce_type=\(type)", "ce_source=/identity"].flatMap { ["-H", $0] }
        let script = #"printf %s "$VALUE" | "$@""#
        let arguments = ["-P", "-b", servers, "-t", topic, "-p", "\(partition)", "-k", "forged"] + headers
        let result = try await Program.run(
            "/bin/sh", ["-c", script, "sh", Self.reader] + arguments, environment: ["VALUE": value])
        guard result.status == 0 else { throw CommandFailed(what: "forging: \(result)") }
    }

    /// Takes away what lies before an offset.
    func deleteRecords(before offset: Int64, in topic: String, partition: Int) async throws {
        let file = NSTemporaryDirectory() + "latchkey-records-" + UUID().uuidString
        defer { unlink(file) }
        let place = #"{"topic":"\#(topic)","partition":\#(partition),"offset":\#(offset)}"#
        try #"{"version":1,"partitions":[\#(place)]}"#.write(toFile: file, atomically: false, encoding: .utf8)
        let arguments = ["--bootstrap-server", servers, "--offset-json-file", file]
        let result = try await Program.run(
            tool ?? "", ["tool", "org.apache.kafka.tools.DeleteRecordsCommand"] + arguments)
        guard result.status == 0, !result.output.contains("error") else {
            throw CommandFailed(what: "deleting records: \(result)")
        }
    }

    /// Writes all that the topics with this prefix hold, in every partition from the first record to the last, into one file
    /// each: keys, headers and values as they are.
    func copyTopics(withPrefix prefix: String, to folder: String) async throws {
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        let listing = try await Program.run(Self.reader, ["-b", servers, "-L", "-J"])
        let topics = listing.output.matches(of: /"topic":"([^"]+)"/).map { String($0.1) }.filter { $0.hasPrefix(prefix) }
        guard !topics.isEmpty else { throw CommandFailed(what: "listing topics: \(listing)") }
        for topic in topics {
            let arguments = ["-b", servers, "-C", "-t", topic, "-o", "beginning", "-e", "-q", "-f", "%k %h %s\\n"]
            let reading = try await Program.run(Self.reader, arguments)
            guard reading.status == 0 else { throw CommandFailed(what: "reading \(topic): \(reading.errors)") }
            try reading.bytes.write(to: URL(fileURLWithPath: "\(folder)/\(topic)"))
        }
    }
}
