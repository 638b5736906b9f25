import EventLog
import EventSchema
import JSON
import Testing

@testable import IdentityService

/// Command lines of audits, and the lines that they write.
struct AuditFormatTests {
    private static let now = Timestamp(rfc3339: "2026-03-04T05:06:07.089Z")!

    private func parse(_ line: String) throws -> AuditArguments {
        try AuditArguments(line.split(separator: " ").map(String.init), now: Self.now)
    }

    @Test func `a history is asked for`() throws {
        let wanted = try parse(
            "user a@b.example --since 2h --until=2026-03-04T05:00:00+01:00 --type login,erased --type=code --reveal")
        #expect(wanted.task == .user("a@b.example"))
        #expect(wanted.since == Timestamp(rfc3339: "2026-03-04T03:06:07.089Z"))
        #expect(wanted.until == Timestamp(rfc3339: "2026-03-04T04:00:00.000Z"))
        #expect(wanted.types == ["login", "erased", "code"])
        #expect(wanted.reveal && !wanted.follow && wanted.format == .table)
        #expect(try parse("log --since 2026-03-01 --follow --format csv").since == Timestamp(rfc3339: "2026-03-01T00:00:00.000Z"))
        #expect(try parse("log --format=jsonl").format == .jsonl)
    }

    @Test func `a proof is asked for`() throws {
        let wanted = try parse("prove --without-keys --since old.json --output new.json --key abc --format jsonl")
        #expect(wanted.withoutKeys && wanted.earlier == "old.json" && wanted.output == "new.json" && wanted.publicKey == "abc")
        #expect(try parse("erased x").task == .erased("x"))
        #expect(try parse("key").task == .key)
    }

    @Test(arguments: [
        "", "nothing", "user", "user --since 2h", "log --since soon", "log --since", "log --format xml",
        "log --since 1h --until 2h",
        "log --follow --until 1h", "prove --format csv", "prove --reveal", "erased", "erased x --since 1h", "log --follow=yes",
        "log more", "user a b", "key --since 1h",
    ])
    func `what makes no sense is refused`(line: String) {
        #expect(throws: AuditArguments.Fault.self) { try parse(line) }
    }

    @Test func `what was given is not repeated in an error`() {
        do {
            _ = try parse("user ada@example.com bob@example.com")
            Issue.record("that is one too many")
        } catch {
            #expect(!"\(error)".contains("@"))
        }
    }

    @Test func `types are chosen by how they begin or end`() {
        let type = "latchkey.identity.login-failed.v1"
        for name in [type, "login-failed", "failed", "identity", "identity.login", "latchkey.identity", "failed.v1"] {
            #expect(TypeFilter(names: ["nothing", name]).takes(type), "\(name)")
        }
        #expect(TypeFilter(names: []).takes(type))
        for name in ["verification", "login", "v2"] { #expect(!TypeFilter(names: [name]).takes(type), "\(name)") }
    }

    @Test func `CSV is quoted, and safe in a spreadsheet`() {
        #expect(HistoryLines.csv(["a", "b,c", "d\"e", "f\ng", ""]) == "a,\"b,c\",\"d\"\"e\",\"f\ng\",\r\n")
        #expect(HistoryLines.csv(["=1+1", "+2", "-3", "@x", "\tx", "x=1"]) == "'=1+1,'+2,'-3,'@x,'\tx,x=1\r\n")
        #expect(HistoryLines.csv(["=\"a\""]) == "\"'=\"\"a\"\"\"\r\n")
    }

    @Test func `a terminal gets no commands`() {
        #expect(HistoryLines.printable("a\u{1b}[31mb\r\u{202e}c  ") == "a\u{fffd}[31mb\u{fffd}\u{fffd}c")
    }

    private func event(_ type: String, _ data: String) throws -> EventEnvelope {
        var partition = try AuditedPartition(0)
        partition.stand(partition.made(type, data))
        var walk = ChainReader(
            AuditedPartition.place, at: nil, log: AuditedPartition.log, authenticator: partition.authenticator)
        guard case .valid(let event) = try walk.read(partition.records[0]) else { throw LogProof.Fault.malformed }
        return event
    }

    private var event: EventEnvelope {
        get throws {
            let user = "018f5e2a-7b3c-8d4e-9f60-718293a4b5c6"
            return try event(
                "latchkey.identity.groups-changed.v1", #"{"user":"\#(user)","groups":["admin","=x"],"reply":null}"#)
        }
    }

    @Test func `what several parts of an event say tells of which it says it, and boxes say nothing`() throws {
        let failed = try event(
            "latchkey.identity.login-failed.v1",
            #"{"ofIdentifier":{"failures":7,"blockedUntil":null},"ofAddress":{"failures":1},"ofDevice":null}"#)
        #expect(
            HistoryLines(format: .table, isForPeople: false).line(failed, PersonalContent()).hasSuffix(
                "  ofIdentifier.failures=7 ofAddress.failures=1\n"))
        let consumed = try event(
            "latchkey.verification.reset-token-consumed.v1", #"{"account":{"credentialVersion":3},"password":"1.identity:1.AA"}"#)
        #expect(
            HistoryLines(format: .table, isForPeople: false).line(consumed, PersonalContent()).hasSuffix(
                "  credentialVersion=3\n"))
    }

    @Test func `times are exact in files`() throws {
        let event = try event
        let person = PersonalContent(members: ["identifier": "a***@***.com"])
        let json = try JSON.parse(HistoryLines(format: .jsonl, isForPeople: false).line(event, person))
        #expect(json["time"] == "2023-11-14T22:13:20.000Z")
        #expect(json["type"] == "latchkey.identity.groups-changed.v1")
        #expect(json["topic"] == "identity.events" && json["partition"] == 2 && json["offset"] == 0 && json["sequence"] == 1)
        #expect(json["user"] == "018f5e2a-7b3c-8d4e-9f60-718293a4b5c6")
        #expect(json["data"]?["groups"] == ["admin", "=x"])
        #expect(json["person"]?["identifier"] == "a***@***.com")
        let table = HistoryLines(format: .table, isForPeople: false).line(event, person)
        #expect(table.hasPrefix("2023-11-14T22:13:20.000Z  2@0        identity.groups-changed "))
        #expect(table.hasSuffix("groups=admin,=x identifier=a***@***.com\n"))
        let csv = HistoryLines(format: .csv, isForPeople: false).line(event, person)
        #expect(csv.hasPrefix("2023-11-14T22:13:20.000Z,2023-11-14T22:13:20.000Z,identity.events,2,0,1,"))
        #expect(csv.hasSuffix("\r\n"))
        let people = HistoryLines(format: .table, isForPeople: true).line(event, person)
        #expect(people.wholeMatch(of: /2023-11-1\d \d\d:\d\d:20  2@0 .*\n/) != nil)
    }
}
