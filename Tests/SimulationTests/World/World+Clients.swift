import Crypto
import EventLogSimulated
import EventSchema
import SeededRandom

@testable import EventLog

/// What gateways and the service upstream send.
extension World {
    /// A client that never tires.
    func client() {
        scheduler.after(gap(profile.pace)) { [weak self] in
            guard let self, !self.isOver else { return }
            if self.scheduler.random.chance(0.15) { self.sendAgain() } else { self.sendNew() }
            if self.scheduler.random.chance(0.03) { self.sendJunk() }
            self.client()
        }
    }

    private func sendNew() {
        let draft = load.command(after: events)
        let command = SentCommand(
            id: someID(), draft: draft, budget: [5_000, 5_000, 5_000, 300].randomElement(using: &scheduler.random) ?? 5_000,
            remember: scheduler.random.chance(0.5) ? 20_000 : 0, sentAt: scheduler.now)
        sent.append(command)
        send(command)
    }

    /// The same command once more, as long as its first copy said that it may come.
    private func sendAgain() {
        let recent = sent.suffix(20).filter { command in
            let late = Int64(command.remember) * 1_000 - broker.faults.messageTimeout * 3
            return scheduler.now - command.sentAt < late
        }
        guard let command = recent.randomElement(using: &scheduler.random) else { return sendNew() }
        send(command)
    }

    private func send(_ command: SentCommand) {
        guard let commands else { return }
        requests += 1
        let number = requests
        let address = ReplyAddress(
            partition: 0, process: [UInt8](repeating: 1, count: 16), publicKey: [UInt8](repeating: 2, count: 32),
            request: (0..<16).map { UInt8(truncatingIfNeeded: number >> ($0 % 4 * 8)) })
        var headers = [
            Header(HeaderName.specVersion, "1.0"), Header(HeaderName.id, command.id.text),
            Header(HeaderName.type, command.draft.type), Header(HeaderName.source, "/gateway"),
            Header(HeaderName.contentType, "application/json"), Header(HeaderName.budget, String(command.budget)),
            Header(HeaderName.replyTo, address.encoded),
        ]
        if command.remember > 0 { headers.append(Header(HeaderName.remember, String(command.remember))) }
        if let subject = command.draft.subject { headers.append(Header(HeaderName.subject, subject)) }
        append(
            authenticator.sealed(
                OutgoingRecord(partition: commands, key: command.draft.key, headers: headers, value: command.draft.data)))
    }

    /// What a stranger with access to the broker writes, or a program with a mistake.
    private func sendJunk() {
        guard let commands else { return }
        let id = someID()
        let draft = load.command(after: events)
        let record = OutgoingRecord(
            partition: commands, key: draft.key,
            headers: [Header(HeaderName.id, id.text), Header(HeaderName.type, draft.type), Header(HeaderName.budget, "5000")],
            value: scheduler.random.chance(0.5) ? draft.data : [])
        append(scheduler.random.chance(0.5) ? record : authenticator.sealed(record))
    }

    private func append(_ record: OutgoingRecord) {
        // Each command comes by a gateway of its own: nothing orders them.
        broker.append(record, by: SimulatedLink()) { _ in }
    }

    private func someID() -> MessageID {
        let bytes = (0..<4).flatMap { _ in withUnsafeBytes(of: scheduler.random.next()) { Array($0) } }
        return MessageID(digest: bytes)
    }

    // MARK: Upstream

    /// The service upstream: its chain is right, and has void records in it.
    func upstreamService() {
        scheduler.after(gap(profile.pace * 3)) { [weak self] in
            guard let self, !self.isOver else { return }
            self.upstreamHappens()
            self.upstreamService()
        }
    }

    private func upstreamHappens() {
        guard let upstream, let chain = upstreamEvents, let body = load.upstream(), let service = upstream.topic.owner else {
            return
        }
        requests += 1
        let number = requests
        let address = ReplyAddress(
            partition: 0, process: [UInt8](repeating: 3, count: 16), publicKey: [UInt8](repeating: 4, count: 32),
            request: (0..<16).map { UInt8(truncatingIfNeeded: number >> ($0 % 4 * 8)) })
        let last = chain.events.last
        let head = ChainHead(
            sequence: Int64(chain.events.count), hash: chain.headHash, offset: last?.record.offset ?? -1, key: 1)
        let draft = EventDraft(
            id: someID(), body: body, key: [1], time: broker.clock, inboxes: InboxPositions(), writer: "upstream",
            service: service,
            speculation: 1, causation: someID(), traceParent: nil, replyTo: address, deadline: broker.clock + .seconds(5),
            remember: .zero, refused: [])
        let record = draft.record(after: head, in: upstream, by: authenticator)
        append(record)
        if scheduler.random.chance(0.2) { append(record) }
    }
}
