import Crypto
import HTTP
import Postgres
import Runtime
import SeededRandom
import Testing

@testable import GatewayService

@Suite struct `Budgets in Postgres` {
    /// A time at which no housekeeping finds anything that is over.
    private static let future: Int64 = 4_000_000_000_000

    /// Random batches at random times, some of them behind the last, against the same rules in Swift.
    @Test(arguments: 0..<20 as Range<UInt64>)
    func `agree with the model`(seed: UInt64) async throws {
        var random = SeededGenerator(seed: seed)
        let model = ModelQuotas()
        let quotas = (0..<5).map { index in
            Quota(
                key: Random.bytes(16),
                rate: Rate(Int.random(in: 1...6, using: &random), per: .seconds(Int.random(in: 1...20, using: &random))))
        }
        var now = Self.future
        for step in 0..<60 {
            now += Int64.random(in: -20...4_000, using: &random)
            let batch = (0..<Int.random(in: 1...12, using: &random)).map { _ in quotas.randomElement(using: &random)! }
            // Whether there would be room, nobody counts.
            for quota in quotas {
                let look = Quota(key: quota.key, rate: quota.rate, counts: false)
                #expect(try await answers(to: [(look, nil)], at: now).map(\.first) == [model.take(look, at: now)])
            }
            let admissions = try await answers(to: batch.map { ($0, nil) }, at: now).map(\.first)
            #expect(admissions == batch.map { model.take($0, at: now) }, "seed \(seed), step \(step)")
        }
    }

    private func answers(to questions: [LimitBatch.Question], at now: Int64) async throws -> [LimitBatch.Answer] {
        let batch = LimitBatch(questions)
        let statement = LimitStatement.take(batch.entries, then: batch.followers, at: now)
        let rows = try await TestPostgres.shared.pool.query(statement)
        return batch.answers(try rows.decode([UInt8].self, Int32.self, Int64.self))
    }

    /// A second budget is counted in where the first one admits, and nowhere else.
    @Test(arguments: 0..<20 as Range<UInt64>)
    func `of two in a row agree with the model`(seed: UInt64) async throws {
        var random = SeededGenerator(seed: 1_000 + seed)
        let model = ModelQuotas()
        func some(_ count: Int, _ most: ClosedRange<Int>) -> [Quota] {
            (0..<count).map { _ in
                Quota(
                    key: Random.bytes(16),
                    rate: Rate(Int.random(in: most, using: &random), per: .seconds(Int.random(in: 1...20, using: &random))))
            }
        }
        let (first, second) = (some(3, 1...6), some(4, 1...4))
        var now = Self.future
        for step in 0..<60 {
            now += Int64.random(in: -20...4_000, using: &random)
            // Those who only look know of no one who counts in the same batch: they come alone.
            let counts = Int.random(in: 0..<4, using: &random) > 0
            let batch = (0..<Int.random(in: 1...12, using: &random)).map { _ -> LimitBatch.Question in
                var quota = first.randomElement(using: &random)!
                quota.counts = counts
                return (quota, Int.random(in: 0..<4, using: &random) > 0 ? second.randomElement(using: &random)! : nil)
            }
            let expected = batch.map { model.take($0.first, then: $0.next, at: now) }
            let told = try await answers(to: batch, at: now)
            #expect(told.map(\.first) == expected.map(\.first), "seed \(seed), step \(step)")
            #expect(told.map(\.next) == expected.map(\.next), "seed \(seed), step \(step)")
        }
    }

    @Test func `of two in a row hold over several gateways at once, exactly`() async throws {
        let postgres = try await TestPostgres.shared
        let gateways = (0..<3).map { _ in PostgresQuotas(postgres.anotherPool()) }
        let clients = (0..<4).map { _ in Quota(key: Random.bytes(16), rate: Rate(20, per: .seconds(3_600))) }
        let owners = (0..<4).map { _ in Quota(key: Random.bytes(16), rate: Rate(17, per: .seconds(3_600))) }
        let answers = try await withThrowingTaskGroup(of: (owner: Int, first: Admission, next: Admission?).self) { group in
            for index in 0..<400 {
                let (gateway, owner) = (gateways[index % 3], index / 4 % 4)
                group.addTask {
                    let answer = try await gateway.take(clients[index % 4], then: owners[owner])
                    return (owner, answer.first, answer.next)
                }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(answers.filter { $0.first == .admitted }.count == 80)
        // Who is refused by his own budget takes nothing of the other.
        #expect(answers.allSatisfy { ($0.first == .admitted) == ($0.next != nil) })
        for (owner, quota) in owners.enumerated() {
            let asked = answers.filter { $0.owner == owner && $0.next != nil }.count
            let admitted = answers.filter { $0.owner == owner && $0.next == .admitted }.count
            #expect(admitted == min(17, asked))
            let hits = try await postgres.pool.query("SELECT cardinality(hits) FROM gateway.limits WHERE key = \(quota.key)")
            #expect(try hits.column(Int32.self).reduce(0, +) == Int32(admitted))
        }
    }

    @Test func `hold over several gateways at once, exactly`() async throws {
        let postgres = try await TestPostgres.shared
        let gateways = (0..<3).map { _ in PostgresQuotas(postgres.anotherPool()) }
        let quota = Quota(key: Random.bytes(16), rate: Rate(50, per: .seconds(3_600)))
        let other = Quota(key: Random.bytes(16), rate: Rate(7, per: .seconds(3_600)))
        let admitted = try await withThrowingTaskGroup(of: (Bool, Bool).self) { group in
            for index in 0..<300 {
                let gateway = gateways[index % 3]
                group.addTask {
                    async let first = gateway.take(quota)
                    async let second = gateway.take(other)
                    return try await (first == .admitted, second == .admitted)
                }
            }
            return try await group.reduce(into: (0, 0)) { $0 = ($0.0 + ($1.0 ? 1 : 0), $0.1 + ($1.1 ? 1 : 0)) }
        }
        #expect(admitted == (50, 7))
    }

    @Test func `are counted once, after all, where a gateway with other limits waits for the same keys in another order`()
        async throws
    {
        let postgres = try await TestPostgres.shared
        let pool = postgres.anotherPool(settings: ["deadlock_timeout": "200ms"])
        let (first, next) = (
            Quota(key: Random.bytes(16), rate: Rate(5, per: .seconds(3_600))),
            Quota(key: Random.bytes(16), rate: Rate(5, per: .seconds(3_600)))
        )
        let quotas = PostgresQuotas(pool)
        #expect(try await quotas.take(first, then: next) == (.admitted, .admitted))
        // The other gateway has the second key, and wants the first one once it is waited for.
        let other = postgres.anotherPool(settings: ["deadlock_timeout": "60s"])
        let answer = try await other.withTransaction { connection in
            func lock(_ quota: Quota) throws {
                try connection.query("SELECT FROM gateway.limits WHERE key = \(quota.key) FOR UPDATE")
            }
            try lock(next)
            let answer = Task { try await quotas.take(first, then: next) }
            let waiting: SQL = "SELECT FROM pg_stat_activity WHERE pg_backend_pid() = ANY (pg_blocking_pids(pid))"
            while try connection.query(waiting).isEmpty { try connection.query("SELECT pg_stat_clear_snapshot()") }
            try lock(first)
            return answer
        }
        #expect(try await answer.value == (.admitted, .admitted))
        let hits = try await postgres.pool.query(
            "SELECT cardinality(hits) FROM gateway.limits WHERE key = ANY (\([first.key, next.key]))")
        #expect(try hits.column(Int32.self) == [2, 2])
    }

    @Test func `say how long to wait by the server's clock`() async throws {
        let postgres = try await TestPostgres.shared
        let quotas = PostgresQuotas(postgres.pool)
        let quota = Quota(key: Random.bytes(16), rate: Rate(1, per: .seconds(900)))
        #expect(try await quotas.take(quota) == .admitted)
        for _ in 0..<2 {
            guard case .refused(let wait) = try await quotas.take(quota) else {
                Issue.record("the second was admitted")
                return
            }
            #expect(wait > .seconds(880) && wait <= .seconds(900))
        }
    }

    @Test func `hold nobody's address`() async throws {
        let postgres = try await TestPostgres.shared
        let gateway = TestGateway(
            rates: [.send: Rate(5, per: .seconds(60)), .dailySends: Rate(5, per: .seconds(60))],
            counter: PostgresQuotas(postgres.pool))
        #expect(await gateway.send(TestGateway.send).status == .ok)
        let keys = try await postgres.pool.query("SELECT key FROM gateway.limits").column([UInt8].self)
        #expect(!keys.isEmpty)
        for key in keys {
            #expect(!key.contains(IPAddress.loopbackV4.bytes) && !key.contains(Array("127.0.0.1".utf8)))
        }
    }

    @Test func `written while the server's clock was ahead do not lock anybody out`() async throws {
        let postgres = try await TestPostgres.shared
        let entry = LimitStatement.Entry(key: Random.bytes(16), asked: 1, most: 1, span: 60_000)
        func admitted(at now: Int64) async throws -> Int32 {
            try await postgres.pool.query(LimitStatement.take([entry], at: now)).decode([UInt8].self, Int32.self, Int64.self)[0].1
        }
        #expect(try await admitted(at: Self.future) == 1)
        #expect(try await admitted(at: Self.future - LimitStatement.clockTolerance) == 0)
        #expect(try await admitted(at: Self.future - LimitStatement.clockTolerance - 1) == 1)
    }

    @Test func `that are spent are deleted in small steps, and no others`() async throws {
        let postgres = try await TestPostgres.shared
        // Behind the keys of all other tests.
        let first = [UInt8](repeating: 0xff, count: 20)
        let entries = (0..<25 as Range<UInt8>).map { index in
            LimitStatement.Entry(key: first + [index], asked: 1, most: 3, span: index % 2 == 0 ? 1_000 : 100_000)
        }
        try await postgres.pool.query(LimitStatement.take(entries, at: Self.future))
        var last: [UInt8]? = first
        var steps = 0
        while let key = last {
            let row = try #require(
                try await postgres.pool.query(LimitStatement.sweep(after: key, step: 10, at: Self.future + 1_001)).first)
            last = try row.decode(0, as: [UInt8]?.self)
            steps += 1
        }
        #expect(steps == 4)
        let left = try await postgres.pool.query("SELECT key FROM gateway.limits WHERE key > \(first) ORDER BY key").column(
            [UInt8].self)
        #expect(left == (0..<25 as Range<UInt8>).filter { $0 % 2 == 1 }.map { first + [$0] })
    }
}
