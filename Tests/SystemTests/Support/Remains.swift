import Foundation
import Testing

/// Every byte that a system has kept.
struct Remains {
    /// Files and folders: pages and write-ahead log of the database, a dump of what SQL shows, the topics of Kafka.
    var stored: [String]
    /// What the services have logged. Deliveries of the console are the one exception.
    var logs: [String]

    static func collected(from system: LatchkeySystem) async throws -> Remains {
        _ = try await system.sql("CHECKPOINT")
        let dump = try await system.compose("postgres", ["pg_dump", "--data-only"])
        #expect(dump.status == 0)
        try dump.bytes.write(to: URL(fileURLWithPath: system.folder + "/dump.sql"))
        var stored = [system.state + "/postgres", system.folder + "/dump.sql"]
        if let kafka = TestKafka.given {
            try await kafka.copyTopics(withPrefix: system.topicPrefix, to: system.folder + "/topics")
            stored.append(system.folder + "/topics")
        } else {
            #expect(dump.output.contains("COPY log.lasting_records"))
        }
        let logs = try FileManager.default.contentsOfDirectory(atPath: system.state + "/logs")
        return Remains(
            stored: stored, logs: logs.filter { !$0.hasPrefix("notifier") }.map { "\(system.state)/logs/\($0)" })
    }

    /// Where one of these texts stands, in the stores and in the logs.
    func files(containing texts: [String]) async throws -> [String] {
        try await ByteSearch.files(containing: texts, in: stored + logs)
    }

    /// Where the digits of more than one of these codes stand: those of one may stand somewhere by chance.
    func files(containingCodes codes: [String]) async throws -> [String] {
        var places: [String: Int] = [:]
        for code in codes {
            for place in try await ByteSearch.files(containingNumber: code, in: stored + logs) { places[place, default: 0] += 1 }
        }
        return places.filter { $0.value > 1 }.map(\.key)
    }
}
