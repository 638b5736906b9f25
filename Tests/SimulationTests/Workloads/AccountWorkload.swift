import EventLogSimulated
import EventSchema
import JSON
import SeededRandom

@testable import EventLog

/// A service whose state is a projection, which takes commands and the events of another service, and has timers: accounts
/// that hold little, and remember everything that was ever done to them.
struct AccountWorkload: Workload {
    let domain = AccountPartition()
    private var random: SeededGenerator

    init(random: SeededGenerator) { self.random = random }

    var settings: LoopSettings {
        var settings = LoopSettings(
            service: .identity, storage: .projection, inboxes: [.identityCommands, .verificationEvents], events: .identityEvents)
        settings.longestBudget = .seconds(5)
        return settings
    }

    mutating func command(after events: ValidEvents) -> CommandDraft {
        let amount = Int64([-4, -2, 1, 2, 3, 5].randomElement(using: &random) ?? 1)
        let type = random.chance(0.1) ? AccountPartition.Kind.transfer : .deposit
        return CommandDraft(type: type.rawValue, subject: nil, key: [1], data: AccountPartition.data(account, amount))
    }

    mutating func upstream() -> EventBody? {
        // Some of them are of no use here.
        let amount = Int64.random(in: 0...3, using: &random)
        return EventBody(
            type: AccountPartition.Kind.credited.rawValue, subject: nil, data: AccountPartition.data(account, amount))
    }

    mutating func timer() -> AccountPartition.Change? {
        AccountPartition.Change(kind: .charged, account: account, amount: -1)
    }

    private var account: String {
        mutating get { ["a", "b", "c", "d"].randomElement(using: &random) ?? "a" }
    }

    func essence(of account: AccountPartition.Account, at now: Timestamp) -> AccountPartition.Account? { account }
}

struct AccountPartition: PartitionDomain {
    enum Kind: String, Sendable {
        case deposit = "latchkey.test.deposit.v1"
        /// Like a deposit, but another service tells what comes of it.
        case transfer = "latchkey.test.transfer.v1"
        case credited = "latchkey.test.credited.v1"
        case charged = "latchkey.test.charged.v1"
    }

    struct Change: Sendable, Equatable {
        var kind: Kind
        var account: String
        var amount: Int64
    }

    struct Account: Sendable, Equatable {
        var balance: Int64 = 0
        /// Tells states apart that hold the same.
        var changes = 0
        var changedAt = Timestamp(milliseconds: 0)
    }

    func read(_ message: InboxMessage) -> Reading<Change> {
        guard let kind = Kind(rawValue: message.type) else { return .unknownType }
        guard let (account, amount) = Self.content(of: message.data) else { return .malformed }
        return .input(Change(kind: kind, account: account, amount: amount))
    }

    func key(of change: Change) -> String { change.account }
    var initial: Account { Account() }

    func decide(_ change: Change, at now: Timestamp, given account: Account) -> Decision<Change> {
        switch change.kind {
        case .deposit, .transfer:
            if account.balance + change.amount > 12 { return .refusal("full") }
            return account.balance + change.amount < 0 ? .refusal("empty") : .event(change)
        case .credited: return change.amount == 0 ? .nothing : .event(change)
        case .charged: return account.balance > 8 ? .event(change) : .nothing
        }
    }

    func evolve(_ account: inout Account, with event: Change, at now: Timestamp) {
        account.balance += event.amount
        account.changes += 1
        account.changedAt = now
    }

    func isSpent(_ account: Account, at now: Timestamp) -> Bool { false }

    func encode(_ event: Change) -> EventBody {
        EventBody(type: event.kind.rawValue, subject: nil, data: Self.data(event.account, event.amount))
    }

    func decode(_ body: EventBody) throws(UnreadableBody) -> Change {
        guard let kind = Kind(rawValue: body.type), let (account, amount) = Self.content(of: body.data) else {
            throw UnreadableBody(type: body.type, reason: "no change")
        }
        return Change(kind: kind, account: account, amount: amount)
    }

    /// It answers for the service upstream, too.
    func owesAnswer(to message: InboxMessage) -> Bool { true }

    func answer(to event: Change) -> Answer? { event.kind == .transfer ? nil : told(event) }
    func answerElsewhere(to event: Change) -> Answer? { event.kind == .transfer ? told(event) : nil }
    func answer(forRefusal code: String) -> Answer? { Answer(data: Array(code.utf8)) }

    private func told(_ event: Change) -> Answer { Answer(data: Array("\(event.account) \(event.amount)".utf8)) }

    static func data(_ account: String, _ amount: Int64) -> [UInt8] {
        JSON.object(["account": .string(account), "amount": .integer(amount)]).serialized()
    }

    private static func content(of data: [UInt8]) -> (account: String, amount: Int64)? {
        guard let json = try? JSON.parse(data), let account = json["account"]?.string, let amount = json["amount"]?.int64 else {
            return nil
        }
        return (account, amount)
    }
}
