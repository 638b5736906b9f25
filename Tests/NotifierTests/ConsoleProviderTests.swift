import EventSchema
import Foundation
import JSON
import Runtime
import Testing

@testable import NotifierService

@Suite struct ConsoleProviderTests {
    private let folder: TemporaryFolder
    private let noon = Timestamp(milliseconds: 1_800_000_000_000)

    init() throws { folder = try TemporaryFolder() }

    private func message(_ id: MessageID = .random(), code: String? = "012345", subject: String? = "A \"subject\"")
        -> OutgoingMessage
    {
        OutgoingMessage(
            id: id, channel: subject == nil ? .sms : .email, recipient: "user@example.com", purpose: .emailVerification,
            locale: LanguageTag("de")!, subject: subject, text: "Zeile 1\nZeile 2 ä", code: code, requestedAt: noon,
            expiresAt: noon + .minutes(5), time: noon + .seconds(1))
    }

    /// What a console writes to its output while `body` runs.
    private func output(_ body: (Int32) throws -> Void) throws -> [JSON] {
        let pipe = Pipe()
        try body(pipe.fileHandleForWriting.fileDescriptor)
        try pipe.fileHandleForWriting.close()
        let text = String(decoding: pipe.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        return try text.split(separator: "\n").map { try JSON.parse(Array($0.utf8)) }
    }

    @Test func `a delivery is one JSON line, on the output and in the outbox`() throws {
        let id = MessageID.random()
        let lines = try output { output in
            let console = ConsoleProvider(outbox: try Outbox(path: folder.file("outbox")), output: output, logger: .silent)
            #expect(console.deliver([message(id)]) == [.delivered(providerID: nil)])
        }
        let expected: JSON = [
            "time": "2027-01-15T08:00:01.000Z", "id": .string(id.text), "channel": "email", "to": "user@example.com",
            "purpose": "email_verification", "locale": "de", "subject": "A \"subject\"", "text": "Zeile 1\nZeile 2 ä",
            "code": "012345",
        ]
        #expect(lines == [expected])
        #expect(try folder.lines("outbox").dropLast().map { try JSON.parse(Array($0.utf8)) } == [expected])
        let names = ["time", "id", "channel", "to", "purpose", "locale", "subject", "text", "code"]
        #expect(lines[0].object.map { Array($0.keys) } == names)
    }

    @Test func `there is a code only where there is one, and a subject only of an e-mail`() throws {
        let lines = try output { output in
            let console = ConsoleProvider(outbox: nil, output: output, logger: .silent)
            #expect(console.deliver([message(code: nil, subject: nil)]) == [.delivered(providerID: nil)])
        }
        #expect(lines[0].object.map { $0["code"] == nil } == true)
        #expect(lines[0]["subject"] == .null)
    }

    @Test func `what stands in the outbox is not written again`() throws {
        let (first, second) = (message(), message())
        let lines = try output { output in
            let console = ConsoleProvider(outbox: try Outbox(path: folder.file("outbox")), output: output, logger: .silent)
            #expect(console.deliver([first]) == [.delivered(providerID: nil)])
            #expect(console.deliver([first, second]) == [.delivered(providerID: nil), .delivered(providerID: nil)])
        }
        #expect(lines.map { $0["id"]?.string } == [first.id.text, second.id.text])
    }

    @Test func `only with an outbox can the console tell what it has delivered`() throws {
        let known = message()
        _ = try output { output in
            let console = ConsoleProvider(outbox: try Outbox(path: folder.file("outbox")), output: output, logger: .silent)
            #expect(console.removesDoubles)
            _ = console.deliver([known])
            #expect(console.hasTaken(known.id, since: noon) == true)
            #expect(console.hasTaken(.random(), since: noon) == false)
            let forgetful = ConsoleProvider(outbox: nil, output: output, logger: .silent)
            #expect(!forgetful.removesDoubles)
            #expect(forgetful.hasTaken(known.id, since: noon) == nil)
        }
    }

    @Test func `an output that nobody reads any more is no reason to deliver again`() throws {
        let pipe = Pipe()
        try pipe.fileHandleForReading.close()
        let recorder = LogRecorder()
        let logger = Logger(service: "test", sink: recorder)
        let console = ConsoleProvider(
            outbox: try Outbox(path: folder.file("outbox")), output: pipe.fileHandleForWriting.fileDescriptor, logger: logger)
        #expect(console.deliver([message()]) == [.delivered(providerID: nil)])
        #expect(recorder.entries.count == 1)
        let without = ConsoleProvider(outbox: nil, output: pipe.fileHandleForWriting.fileDescriptor, logger: logger)
        #expect(without.deliver([message()]) == [.failed(.unavailable)])
    }

    @Test func `a full disk fails the delivery, and nothing is shown`() throws {
        let recorder = LogRecorder()
        let lines = try output { output in
            let console = ConsoleProvider(
                outbox: try Outbox(path: "/dev/full"), output: output, logger: Logger(service: "test", sink: recorder))
            #expect(console.deliver([message(), message()]) == [.failed(.unavailable), .failed(.unavailable)])
        }
        #expect(lines.isEmpty)
        #expect(recorder.text.contains("No space left on device"))
        #expect(!recorder.text.contains("user@example.com"))
    }

    @Test func `a message does not print what it says`() {
        #expect("\(message())".contains("012345") == false)
        #expect("\(message())".contains("user@example.com") == false)
    }
}
