import EventLog
import EventSchema
import JSON

/// A domain to try the loop with: accounts that hold at most ten.
struct Ledger: PartitionDomain {
    struct Deposit: Sendable, Equatable {
        var account: String
        var amount: Int64
    }

    /// Whether gateways are answered here, or by somebody else.
    var owesAnswers = true
    /// What this domain's events are called.
    var type = "latchkey.test.deposited.v1"
    /// Whether it answers what another service has decided.
    var owesEvents = false

    func owesAnswer(to message: InboxMessage) -> Bool { message.isCommand || owesEvents }

    func read(_ message: InboxMessage) -> Reading<Deposit> {
        guard ["latchkey.test.deposit.v1", "latchkey.test.deposited.v1"].contains(message.type) else {
            return message.type == "latchkey.test.other.v1" ? .ignored : .unknownType
        }
        guard let json = try? JSON.parse(message.data), let account = json["account"]?.string, let amount = json["amount"]?.int64
        else {
            return .malformed
        }
        return .input(Deposit(account: account, amount: amount))
    }

    func key(of deposit: Deposit) -> String { deposit.account }
    var initial: Int64 { 0 }

    func decide(_ deposit: Deposit, at now: Timestamp, given balance: Int64) -> Decision<Deposit> {
        if deposit.amount == 0 { return .nothing }
        return balance + deposit.amount > 10 ? .refusal("full") : .event(deposit)
    }

    func evolve(_ balance: inout Int64, with event: Deposit, at now: Timestamp) { balance += event.amount }
    func isSpent(_ balance: Int64, at now: Timestamp) -> Bool { balance == 0 }

    func encode(_ event: Deposit) -> EventBody {
        EventBody(type: type, subject: nil, data: Self.data(event))
    }

    static func data(_ deposit: Deposit) -> [UInt8] {
        JSON.object(["account": .string(deposit.account), "amount": .integer(deposit.amount)]).serialized()
    }

    func decode(_ body: EventBody) throws(UnreadableBody) -> Deposit {
        guard body.type == type, let json = try? JSON.parse(body.data), let account = json["account"]?.string,
            let amount = json["amount"]?.int64
        else { throw UnreadableBody(type: body.type, reason: "no deposit") }
        return Deposit(account: account, amount: amount)
    }

    func answer(to event: Deposit) -> Answer? { owesAnswers ? Answer(data: Array("ok \(event.amount)".utf8)) : nil }
    func answerElsewhere(to event: Deposit) -> Answer? { owesAnswers ? nil : Answer(data: Array("ok \(event.amount)".utf8)) }
    func answer(forRefusal code: String) -> Answer? { Answer(data: Array(code.utf8)) }
}
