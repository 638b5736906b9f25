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
        let postgres = try await TestPostgres.shared
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
                let looked = LimitBatch([Quota(key: quota.key, rate: quota.rate, counts: false)])
                let rows = try await postgres.pool.query(LimitStatement.take(looked.entries, at: now))
                let admissions = looked.admissions(try rows.decode([UInt8].self, Int32.self, Int64.self))
                #expect(admissions == [model.take(Quota(key: quota.key, rate: quota.rate, counts: false), at: now)])
            }
            let questions = LimitBatch(batch)
            let rows = try await postgres.pool.query(LimitStatement.take(questions.entries, at: now))
            let admissions = questions.admissions(try rows.decode([UInt8].self, Int32.self, Int64.self))
            #expect(admissions == batch.map { model.take($0, at: now) }, "seed \(seed), step \(step)")
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
