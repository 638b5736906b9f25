internal import EventSchema
internal import IdentityService
internal import LogBackends
internal import Runtime

/// `identity status` and `identity poison`. All of it blocks, and returns exit statuses.
enum StatusCommand {
    static let poisonUsage = "identity poison show | skip PARTITION OFFSET --reason TEXT"

    static func status(_ configuration: IdentityConfiguration) throws -> Int32 {
        let partitions = try ProjectionStatus(configuration, log: ConfiguredLog.make(configuration.common)).partitions()
        let rows = partitions.map { partition in
            [partition.partition, partition.offset, partition.events, partition.lag, partition.void].map { "\($0)" }
                + [partition.poison.map { "offset \($0.offset)" } ?? ""]
        }
        print(TextTable.text(["partition", "offset", "events", "lag", "void", "poison"], rows), terminator: "")
        return partitions.contains { $0.poison != nil } ? ExitStatus.failure : 0
    }

    static func poison(_ arguments: [String], _ configuration: IdentityConfiguration) throws -> Int32 {
        let status = try ProjectionStatus(configuration, log: ConfiguredLog.make(configuration.common))
        if arguments == ["show"] {
            let found = try status.partitions().compactMap(\.poison)
            for event in found {
                print("partition \(event.partition) offset \(event.offset), event \(event.sequence) of its chain")
                print("  \(event.type), \(event.time.rfc3339), \(event.size) bytes")
                print("  \(event.problem)")
            }
            if found.isEmpty { print("no partition stands still") }
            return found.isEmpty ? 0 : ExitStatus.failure
        }
        guard arguments.count == 5, arguments[0] == "skip", let partition = Int(arguments[1]), let offset = Int64(arguments[2]),
            arguments[3] == "--reason", !arguments[4].isEmpty, arguments[4].utf8.count <= 500
        else { return ExitStatus.usage(poisonUsage) }
        let answer = try status.skip(offset, ofPartition: partition, reason: arguments[4])
        print(answer)
        return answer == .done ? 0 : ExitStatus.failure
    }
}
