import EventSchema
import Foundation
import JSON
import Testing

@testable import NotifierService

@Suite struct OutboxTests {
    private let folder: TemporaryFolder
    private let noon = Timestamp(milliseconds: 1_800_000_000_000)

    init() throws { folder = try TemporaryFolder() }

    private func outbox() throws(Outbox.Failure) -> Outbox { try Outbox(path: folder.file("outbox")) }

    private func entry(_ id: MessageID = .random(), at time: Timestamp? = nil) -> Outbox.Entry {
        let time = time ?? noon
        let line: JSON = ["time": .string(time.rfc3339), "id": .string(id.text), "text": "hello"]
        return Outbox.Entry(id: id, requestedAt: time, line: line.serialized())
    }

    private func ids() throws -> [String] {
        try folder.lines("outbox").compactMap { try? JSON.parse(Array($0.utf8))["id"]?.string }
    }

    @Test func `a message stands in the outbox once, whoever writes it`() throws {
        let (first, second) = (try outbox(), try outbox())
        let (one, two) = (entry(), entry())
        #expect(try first.append([one, two]) == [true, true])
        #expect(try first.append([one]) == [false])
        #expect(try second.append([two, one]) == [false, false])
        #expect(try ids() == [one.id.text, two.id.text])
    }

    @Test func `a message that stands twice in one call is written once`() throws {
        let one = entry()
        #expect(try outbox().append([one, one]) == [true, false])
        #expect(try ids() == [one.id.text])
    }

    @Test func `what another process has appended meanwhile is seen`() throws {
        let (first, second) = (try outbox(), try outbox())
        let entries = (0..<40).map { _ in entry() }
        for (index, entry) in entries.enumerated() { _ = try (index % 2 == 0 ? first : second).append([entry]) }
        for entry in entries {
            #expect(try first.contains(entry.id, since: noon))
            #expect(try second.contains(entry.id, since: noon))
        }
        #expect(try !first.contains(.random(), since: noon))
    }

    @Test func `only the file's owner may read it`() throws {
        _ = try outbox()
        let mode = try FileManager.default.attributesOfItem(atPath: folder.file("outbox"))[.posixPermissions] as? Int
        #expect(mode == 0o600)
    }

    @Test func `a line that a crash has torn spoils no other`() throws {
        let (whole, torn, next) = (entry(), entry(), entry())
        try folder.write(whole.line + [UInt8(ascii: "\n")] + torn.line.prefix(30), to: "outbox")
        #expect(try outbox().append([whole, torn, next]) == [false, true, true])
        #expect(try ids() == [whole.id.text, torn.id.text, next.id.text])
    }

    @Test func `a whole line that only lacks its end counts`() throws {
        let (whole, next) = (entry(), entry())
        try folder.write(whole.line, to: "outbox")
        #expect(try outbox().append([whole, next]) == [false, true])
        #expect(try ids() == [whole.id.text, next.id.text])
    }

    @Test func `an outbox that was moved away is begun anew`() throws {
        let outbox = try outbox()
        let one = entry()
        _ = try outbox.append([one])
        try FileManager.default.moveItem(atPath: folder.file("outbox"), toPath: folder.file("old"))
        #expect(try outbox.append([one]) == [true])
        #expect(try folder.lines("old") == folder.lines("outbox"))
    }

    @Test func `an outbox that was emptied is begun anew`() throws {
        let outbox = try outbox()
        let one = entry()
        _ = try outbox.append([one, entry()])
        try folder.write([], to: "outbox")
        #expect(try outbox.append([one]) == [true])
        #expect(try ids() == [one.id.text])
    }

    @Test func `a message is found however much was written since`() throws {
        let first = entry(at: noon)
        let writer = try outbox()
        _ = try writer.append([first])
        for minute in 1...60 {
            _ = try writer.append((0..<60).map { second in entry(at: noon + .seconds(Int64(60 * minute + second))) })
        }
        // By one that has followed, and by one that begins at the end of the file.
        #expect(try writer.contains(first.id, since: noon))
        #expect(try outbox().contains(first.id, since: noon))
        #expect(try writer.append([first]) == [false])
    }

    @Test func `a line that is longer than what is read at once is found`() throws {
        let first = entry(at: noon)
        var long = entry(at: noon + .minutes(1))
        let text: JSON = [
            "time": .string((noon + .minutes(1)).rfc3339), "id": .string(long.id.text),
            "text": .string(String(repeating: "x", count: 300_000)),
        ]
        long.line = text.serialized()
        _ = try outbox().append([first, long])
        #expect(try outbox().contains(first.id, since: noon))
        #expect(try outbox().contains(long.id, since: noon))
    }

    @Test func `what cannot be written is reported and not there`() throws {
        let full = try Outbox(path: "/dev/full")
        #expect(throws: Outbox.Failure.self) { try full.append([entry()]) }
    }

    @Test func `a folder is no outbox`() {
        #expect(throws: Outbox.Failure.self) { try Outbox(path: folder.path) }
        #expect(throws: Outbox.Failure.self) { try Outbox(path: folder.file("missing/outbox")) }
    }

    @Test func `many writers at once write each message once`() async throws {
        let entries = (0..<200).map { _ in entry() }
        try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<4 {
                group.addTask {
                    let outbox = try self.outbox()
                    return try entries.shuffled().reduce(0) { count, entry in try count + (outbox.append([entry])[0] ? 1 : 0) }
                }
            }
            var written = 0
            for try await count in group { written += count }
            #expect(written == entries.count)
        }
        #expect(try ids().sorted() == entries.map(\.id.text).sorted())
    }
}
