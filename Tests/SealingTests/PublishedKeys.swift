import Crypto
import EventLog
import EventSchema
import Testing

@testable import Sealing

@Suite struct PublishedKeys {
    private let directory: KeyDirectory

    init() throws { directory = KeyDirectory(authenticator: try authenticator()) }

    @Test func `a record says everything that CloudEvents asks for`() throws {
        let published = key("notifier:1")
        let record = try published.record(at: 0)
        func text(_ name: String) -> String? { record.header(name).map { String(decoding: $0, as: UTF8.self) } }
        #expect(record.partition == TopicPartition(.keys, 0))
        #expect(record.key == Array("notifier:1".utf8))
        #expect(text("ce_specversion") == "1.0")
        #expect(text("ce_type") == "latchkey.keys.sealing-key-published.v1")
        #expect(text("ce_source") == "/notifier")
        #expect(text("ce_time") == "2026-03-01T10:00:00.000Z")
        #expect(text("content-type") == "application/json")
        #expect(text("ce_mackeyid") == "1")
        #expect(text("ce_id").flatMap { MessageID($0) } != nil)
        #expect(record.header("ce_mac")?.count == 32)
        #expect(try published.record(at: 7).header("ce_id") == record.header("ce_id"))
        #expect(try key("notifier:1").record(at: 0).header("ce_id") != record.header("ce_id"))
    }

    @Test func `a published key is there for senders, from its beginning to its end`() throws {
        let published = key("notifier:1")
        #expect(try directory.apply(published.record(at: 0)) == .learned(published))
        #expect(directory.contains(published))
        let recipient = RecipientKey(id: "notifier:1", publicKey: published.publicKey)
        #expect(directory.recipient(.notifier, at: morning) == recipient)
        #expect(directory.recipient(.notifier, at: published.notBefore) == recipient)
        #expect(directory.recipient(.notifier, at: published.notAfter - .milliseconds(1)) == recipient)
        #expect(directory.recipient(.notifier, at: published.notAfter) == nil)
        #expect(directory.recipient(.identity, at: morning) == nil)
    }

    @Test func `one that has not begun is taken where no other one may be`() throws {
        for (offset, key) in [key("later", from: today + .days(1)), key("next", from: today)].enumerated() {
            try directory.apply(key.record(at: Int64(offset)))
        }
        #expect(directory.recipient(.notifier, at: today - .hours(3))?.id == "next")
        #expect(directory.recipient(.notifier, at: today + .days(2))?.id == "later")
        #expect(directory.recipient(.notifier, at: today + .days(3)) == nil)
    }

    @Test func `of several the newest usable one is taken`() throws {
        let keys = [key("old", from: today - .days(1)), key("next", from: today + .days(1)), key("new")]
        for (offset, key) in keys.enumerated() { try directory.apply(key.record(at: Int64(offset))) }
        #expect(directory.recipient(.notifier, at: today - .milliseconds(1))?.id == "old")
        #expect(directory.recipient(.notifier, at: morning)?.id == "new")
        #expect(directory.recipient(.notifier, at: today + .days(1))?.id == "next")
        #expect(directory.keys(of: .notifier, after: morning).map(\.key) == ["old", "new", "next"])
        #expect(directory.keys(of: .notifier, after: today + .days(1)).map(\.key) == ["new", "next"])
    }

    @Test(arguments: [["b", "a"], ["a", "b"]]) func `of two that begin at the same time the later record counts`(ids: [String])
        throws
    {
        for (offset, id) in ids.enumerated() { try directory.apply(key(id).record(at: Int64(offset))) }
        #expect(directory.recipient(.notifier, at: morning)?.id == ids[1])
        // Reading the first one again changes nothing.
        #expect(try directory.apply(key(ids[0]).record(at: 0)) == .known)
        #expect(directory.recipient(.notifier, at: morning)?.id == ids[1])
    }

    @Test func `the same publication twice is one`() throws {
        let published = key("a")
        try directory.apply(published.record(at: 0))
        #expect(try directory.apply(published.record(at: 1)) == .known)
        #expect(directory.keys(of: .notifier, after: morning) == [published])
    }

    @Test func `a key can be given other times, and no other public half`() throws {
        let published = key("a")
        var longer = published
        longer.notAfter = published.notAfter + .days(1)
        try directory.apply(published.record(at: 0))
        #expect(try directory.apply(longer.record(at: 1)) == .learned(longer))
        #expect(!directory.contains(published))
        #expect(try directory.apply(key("a").record(at: 2)) == .void(.contradictory))
        #expect(directory.recipient(.notifier, at: morning)?.publicKey == published.publicKey)
    }

    @Test func `services are told apart, even where ids are not`() throws {
        let (first, second) = (key("a"), key("a", of: .identity))
        try directory.apply(first.record(at: 0))
        try directory.apply(second.record(at: 1))
        #expect(directory.recipient(.notifier, at: morning)?.publicKey == first.publicKey)
        #expect(directory.recipient(.identity, at: morning)?.publicKey == second.publicKey)
    }

    @Test func `the services without a key are named`() throws {
        try directory.apply(key("a").record(at: 0))
        try directory.apply(key("b", of: .verification, from: today - .days(3)).record(at: 1))
        #expect(directory.missing(of: [.verification, .identity, .notifier], at: morning) == [.verification, .identity])
        #expect(directory.missing(of: [.notifier], at: morning).isEmpty)
        #expect(directory.missing(of: [], at: morning).isEmpty)
        #expect(directory.missing(of: [.notifier], at: today + .days(2)) == [.notifier])
    }

    @Test func `not one bit of a record can be changed`() throws {
        let record = try key("a").record(at: 0)
        func refused(_ changed: Record) throws { #expect(try directory.apply(changed) == .void(.forged)) }
        for place in record.value.indices {
            var changed = record
            changed.value[place] ^= 1
            try refused(changed)
        }
        for (number, header) in record.headers.enumerated() where header.name != HeaderName.macKey {
            var changed = record
            changed.headers[number].value[0] ^= 1
            try refused(changed)
            changed = record
            changed.headers.remove(at: number)
            try refused(changed)
        }
        var changed = record
        changed.key = Array("b".utf8)
        try refused(changed)
        changed = record
        changed.headers.append(Header("ce_more", "x"))
        try refused(changed)
        #expect(directory.missing(of: [.notifier], at: morning) == [.notifier])
    }

    @Test func `a record under a MAC key that is not held counts for nothing`() throws {
        #expect(try directory.apply(key("a").record(at: 0, by: 2...2)) == .void(.unknownMACKey))
        #expect(directory.recipient(.notifier, at: morning) == nil)
        let both = KeyDirectory(authenticator: try authenticator(1...2))
        #expect(try both.apply(key("a").record(at: 0, by: 2...2)) != .void(.unknownMACKey))
        #expect(try both.apply(key("b").record(at: 1)) != .void(.unknownMACKey))
    }

    @Test func `no service speaks for another`() throws {
        var outgoing = KeyRecord.publishing(key("a"), at: morning, by: try authenticator())
        outgoing.headers.removeAll { [HeaderName.mac, HeaderName.macKey].contains($0.name) }
        for source in ["/identity", "/", "notifier", "/notifier/"] {
            var foreign = outgoing
            foreign.headers = foreign.headers.map { $0.name == HeaderName.source ? Header($0.name, source) : $0 }
            #expect(try directory.apply(authenticator().sealed(foreign).standing(at: 0)) == .void(.foreign))
        }
        #expect(try directory.apply(authenticator().sealed(outgoing).standing(at: 0)) != .void(.foreign))
    }

    @Test func `a record of another topic counts for nothing`() throws {
        var outgoing = KeyRecord.publishing(key("a"), at: morning, by: try authenticator())
        outgoing.headers.removeAll { [HeaderName.mac, HeaderName.macKey].contains($0.name) }
        outgoing.partition = TopicPartition(.notifierEvents, 0)
        #expect(try directory.apply(authenticator().sealed(outgoing).standing(at: 0)) == .void(.foreign))
    }

    @Test(arguments: ["", "a.b", "a b", "ä", String(repeating: "a", count: 65)]) func `an id that boxes cannot carry is void`(
        id: String
    ) throws {
        #expect(try directory.apply(key(id).record(at: 0)) == .void(.contradictory))
    }

    @Test func `a key that ends before it begins is void`() throws {
        #expect(try directory.apply(key("a", for: .zero).record(at: 0)) == .void(.contradictory))
    }

    @Test(
        arguments: [
            ("latchkey.keys.sealing-key-published.v2", nil), ("latchkey.keys.key-revoked.v1", nil), ("", nil),
            ("latchkey.verification.code-missed.v1", nil), ("latchkey.keys.sealing-key-published.v1", "{}"),
            ("latchkey.keys.sealing-key-published.v1", "not JSON"),
        ] as [(String, String?)])
    func `what a newer release wrote must not be passed over`(type: String, value: String?) throws {
        var outgoing = KeyRecord.publishing(key("a"), at: morning, by: try authenticator())
        outgoing.headers.removeAll { [HeaderName.mac, HeaderName.macKey].contains($0.name) }
        outgoing.headers = outgoing.headers.map { $0.name == HeaderName.type ? Header($0.name, type) : $0 }
        if let value { outgoing.value = Array(value.utf8) }
        let record = try authenticator().sealed(outgoing).standing(at: 3)
        #expect { try directory.apply(record) } throws: { ($0 as? LogError)?.code == .unreadable }
        // Anybody can write such a record without a MAC.
        #expect(try directory.apply(outgoing.standing(at: 3)) == .void(.forged))
    }

    @Test func `keys that ended are forgotten, by the log's clock`() throws {
        let old = key("old", from: today - .days(2))
        try directory.apply(old.record(at: 0, time: today - .days(1)))
        #expect(directory.contains(old))
        try directory.apply(key("new").record(at: 1, time: today))
        #expect(!directory.contains(old))
        #expect(directory.keys(of: .notifier, after: today - .days(9)).map(\.key) == ["new"])
    }
}
