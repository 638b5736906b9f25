internal import EventSchema
internal import IdentityService
internal import LogBackends
internal import Runtime
internal import Synchronization

/// `identity rebuild` and `identity as-of`: tell how far they are while they run, and what came of it.
enum RebuildCommand {
    static let usage = "identity rebuild [--verify | --drop-old]"

    /// Blocks. Prints the name of the schema.
    static func asOf(_ time: Timestamp, _ configuration: IdentityConfiguration) throws -> Int32 {
        let rebuild = try IdentityRebuild(configuration, log: ConfiguredLog.make(configuration.common))
        let meter = ProgressMeter()
        do {
            let name = try rebuild.asOf(time, progress: meter.show)
            meter.finish()
            print(name)
            return 0
        } catch let error as RebuildError {
            meter.finish()
            print(error)
            return ExitStatus.failure
        }
    }

    /// Blocks. Returns the exit status.
    static func run(_ arguments: [String], _ configuration: IdentityConfiguration) throws -> Int32 {
        let rebuild = try IdentityRebuild(configuration, log: ConfiguredLog.make(configuration.common))
        let meter = ProgressMeter()
        do {
            switch arguments {
            case []: report(try rebuild.run(progress: meter.show), meter)
            case ["--verify"]: return report(try rebuild.verify(progress: meter.show), meter)
            case ["--drop-old"]: print(try rebuild.dropOld() ? "the old tables are gone" : "there are no old tables")
            default: return ExitStatus.usage(usage)
            }
            return 0
        } catch let error as RebuildError {
            meter.finish()
            print(error)
            return ExitStatus.failure
        }
    }

    private static func report(_ summary: IdentityRebuild.Summary, _ meter: ProgressMeter) {
        meter.finish()
        let rate = Int(Double(summary.events) / max(meter.elapsed, 0.001))
        var lines = [
            "\(summary.events) events in \(decimal(meter.elapsed)) s, \(rate) per second"
                + (summary.resumed ? "; what was replayed before was kept" : ""),
            "\(summary.void) void records, \(summary.skipped) events skipped",
            "the projection stood still for \(Interval(summary.pause).milliseconds) ms",
            "\(summary.erasedUsers) users are erased",
        ]
        if summary.destroyedKeys > 0 {
            lines.append("\(summary.destroyedKeys) data keys existed that were destroyed once: they are destroyed again")
        }
        if summary.missingKeys > 0 {
            lines.append("\(summary.missingKeys) data keys are missing, and nothing in the log says why")
        }
        lines.append("the tables of before are in identity_old, until identity rebuild --drop-old")
        print(lines.joined(separator: "\n"))
    }

    private static func report(_ reports: [IdentityRebuild.TableReport], _ meter: ProgressMeter) -> Int32 {
        meter.finish()
        let table = TextTable.text(
            ["table", "rows", "missing", "surplus", "changed", "first keys"],
            reports.map {
                [
                    $0.table, String($0.rows), String($0.missing), String($0.surplus), String($0.changed),
                    $0.keys.joined(separator: " "),
                ]
            })
        print(table, terminator: "")
        let isEqual = reports.allSatisfy(\.isEqual)
        print(isEqual ? "no difference" : "the live tables are not what the log says")
        return isEqual ? 0 : ExitStatus.failure
    }

    private static func decimal(_ seconds: Double) -> String {
        let tenths = Int(seconds * 10)
        return "\(tenths / 10).\(tenths % 10)"
    }
}

/// Shows how fast a long work is, and how long it will take yet.
final class ProgressMeter: Sendable {
    private struct Phase {
        var name = ""
        var start = ContinuousClock.now
    }

    private let bar = ProgressBar()
    private let start = ContinuousClock.now
    private let phase = Mutex(Phase())

    /// Seconds since the beginning.
    var elapsed: Double { Self.seconds(since: start) }

    @Sendable func show(_ progress: IdentityRebuild.Progress) {
        let elapsed = phase.withLock { phase in
            if phase.name != progress.phase { phase = Phase(name: progress.phase) }
            return Self.seconds(since: phase.start)
        }
        var text = progress.phase
        if let total = progress.total, progress.done > 0, elapsed > 0.5 {
            let rate = Double(progress.done) / elapsed
            text += ", \(Int(rate)) per second, \(Int(Double(max(0, total - progress.done)) / rate)) s left"
        }
        bar.show(Int(progress.done), of: progress.total.map { Int($0) }, text)
    }

    func finish() { bar.finish() }

    private static func seconds(since start: ContinuousClock.Instant) -> Double {
        let (seconds, attoseconds) = start.duration(to: .now).components
        return Double(seconds) + Double(attoseconds) / 1e18
    }
}
