import Crypto
import EventLog
import EventSchema
import Testing

@testable import GatewayService

@Suite struct `Sessions that an event ends` {
    private static let place = TopicPartition(.identityEvents, 0)
    private static let log = Array("a log".utf8)
    private let session = SessionID.random()

    private func event(_ type: String, _ data: [UInt8], by authenticator: RecordAuthenticator) throws -> EventEnvelope {
        let genesis = ChainHead.genesis(of: Self.place, in: Self.log)
        var chain = try ChainWriter(Self.place, after: genesis, authenticator: authenticator, writer: "a")
        let record = chain.append(
            EventBody(type: type, subject: nil, data: data), id: .random(), key: [], at: Timestamp(milliseconds: 1),
            inboxes: InboxPositions())
        var reader = ChainReader(Self.place, at: nil, log: Self.log, authenticator: authenticator)
        let stored = Record(
            partition: Self.place, offset: 0, time: Timestamp(milliseconds: 1), key: record.key, headers: record.headers,
            value: record.value)
        guard case .valid(let event) = try reader.read(stored) else { throw LogError(.unreadable, "the event is void") }
        return event
    }

    private func authenticator() throws -> RecordAuthenticator { try RecordAuthenticator(keys: [1: .random(count: 32)]) }

    @Test func `are those that it names, unless it is skipped`() throws {
        let user = try #require(UserID("00000000-0000-8000-8000-000000000001"))
        let ended = SchemaCodec.current.encode(SessionsEnded(user: user, sessions: [session], reason: .logout))
        let authenticator = try authenticator()
        #expect(try EndedSessions(in: event(ended.type, ended.data, by: authenticator))?.sessions == [session])
        authenticator.skip(SkippedEvent(Self.place, offset: 0, reason: "a mistake"))
        #expect(try EndedSessions(in: event(ended.type, ended.data, by: authenticator))?.sessions == nil)
    }

    @Test func `are not known of an event that cannot be read, unless it is skipped`() throws {
        let authenticator = try authenticator()
        let type = "latchkey.identity.sessions-ended.v99"
        #expect(throws: LogError.self) { try EndedSessions(in: event(type, Array("{}".utf8), by: authenticator)) }
        authenticator.skip(SkippedEvent(Self.place, offset: 0, reason: "a mistake"))
        #expect(try EndedSessions(in: event(type, Array("{}".utf8), by: authenticator))?.sessions == nil)
    }
}
