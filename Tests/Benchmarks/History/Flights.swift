internal import EventLog
internal import Runtime

/// Records on their way, a limited number of them. Used from one thread, except for what `ended` gives.
struct Flights {
    private let limit: Int
    private let outcomes = Mailbox<LogError?>()
    private var count = 0

    init(limit: Int) { self.limit = limit }

    /// Waits until there is room for one more. Returns what is to be told of its end, on any thread.
    mutating func begin() throws -> @Sendable (Result<Appended, LogError>) -> Void {
        try wait(until: limit - 1)
        count += 1
        return { [outcomes] result in
            if case .failure(let error) = result { outcomes.send(error) } else { outcomes.send(nil) }
        }
    }

    mutating func landAll() throws { try wait(until: 0) }

    private mutating func wait(until most: Int) throws {
        while count > most {
            for outcome in outcomes.receive(within: .seconds(60)) {
                if let outcome { throw outcome }
                count -= 1
            }
        }
    }
}
