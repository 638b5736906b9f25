import EventLog
import EventLogPostgres
import EventSchema
import Postgres
import TestSupport
import Testing

@Suite struct `The log in Postgres` {
    static let replies = TopicPartition(.replies, 0)

    let database: TestDatabase
    let configuration: PostgresLog.Configuration

    init() throws {
        database = try TestDatabase.create()
        configuration = PostgresLog.Configuration.hasty(database)
    }

    @Test func `is not there before it is provisioned`() throws {
        let error = #expect(throws: LogError.self) { try PostgresLog(configuration).describe() }
        #expect(error?.code == .notProvisioned)
        #expect(error?.isRetriable == false)
    }

    @Test func `is drawn once, by whoever comes first`() async throws {
        let configuration = configuration
        let descriptions = try await withThrowingTaskGroup(of: LogDescription.self) { group in
            for _ in 0..<5 { group.addTask { try PostgresLog.provision(configuration, partitions: 7) } }
            return try await group.reduce(into: Set()) { $0.insert($1) }
        }
        #expect(descriptions.count == 1)
        #expect(try PostgresLog(configuration).describe() == descriptions.first)
    }

    @Test func `refuses another number of partitions`() throws {
        try PostgresLog.provision(configuration, partitions: 3)
        let other = #expect(throws: LogError.self) { try PostgresLog.provision(configuration, partitions: 4) }
        #expect(other?.code == .misconfigured)
        try database.connect().script("DELETE FROM log.partitions WHERE topic = 2 AND partition = 2")
        let torn = #expect(throws: LogError.self) { try PostgresLog(configuration).describe() }
        #expect(torn?.code == .misconfigured)
        try database.connect().script("DELETE FROM log.partitions WHERE topic = 2; DELETE FROM log.topics WHERE id = 2")
        let missing = #expect(throws: LogError.self) { try PostgresLog(configuration).describe() }
        #expect(missing?.code == .notProvisioned)
    }

    @Test func `finds what nobody announced`() throws {
        try PostgresLog.provision(configuration, partitions: 1)
        let reader = try PostgresLog(configuration).reader()
        reader.consumer.follow(Self.replies, from: 0)
        try reader.poll { $0.ends[Self.replies] == [0] }
        let topic = try database.connect().query("SELECT id FROM log.topics WHERE name = 'replies'").column(Int16.self)[0]
        let empty: [[UInt8]] = [[1]]
        try database.connect().query(
            """
            SELECT log.append(false, \([topic]), \([Int16(0)]), \([Int32(1)]), \([Int32(1)]), \([Int32(0)]), \(empty), \(empty), \(empty))
            """)
        try reader.poll { $0.count(Self.replies) == 1 }
    }

    @Test func `deletes what is past its time, and tells who comes too late`() throws {
        var configuration = configuration
        configuration.retentionInterval = .milliseconds(50)
        try PostgresLog.provision(configuration, partitions: 2)
        let log = PostgresLog(configuration)
        let events = TopicPartition(.identityEvents, 0)
        let other = TopicPartition(.replies, 1)
        let writer = try log.writer()
        try writer.append((0..<900).map { OutgoingRecord("\($0)", to: Self.replies) })
        try writer.append((0..<3).map { OutgoingRecord("\($0)", to: events) })
        try writer.append("young", to: other)
        let connection = try database.connect()
        try connection.query("UPDATE log.passing_records SET time = time - 3600001 WHERE partition = 0 AND \"offset\" < 850")

        let reader = try log.reader()
        while try reader.consumer.bounds(of: Self.replies) != 850..<900 { try reader.poll() }
        #expect(try connection.query("SELECT count(*) FROM log.passing_records").column(Int.self) == [51])
        #expect(try reader.consumer.bounds(of: events) == 0..<3)
        #expect(try reader.consumer.bounds(of: other) == 0..<1)
        #expect(try reader.consumer.offset(of: Self.replies, at: Timestamp(milliseconds: 0)) == 850)
        reader.consumer.follow(Self.replies, from: 0)
        try reader.poll { !$0.outOfRange.isEmpty }
        #expect(reader.outOfRange == [.init(partition: Self.replies, bounds: 850..<900)])
        #expect(try reader.read(Self.replies, from: 850).count == 50)
    }

    @Test func `keeps time from running back, unless a clock was wrong`() throws {
        try PostgresLog.provision(configuration, partitions: 1)
        let writer = try PostgresLog(configuration).writer()
        let connection = try database.connect()
        let now = try writer.append("now", to: Self.replies).time
        let soon = now + .minutes(1)
        try connection.query("UPDATE log.partitions SET last_time = \(soon.milliseconds)")
        #expect(try writer.append("soon", to: Self.replies).time == soon)
        try connection.query("UPDATE log.partitions SET last_time = \((now + .minutes(10)).milliseconds)")
        let after = try writer.append("after", to: Self.replies).time
        #expect(after >= now && after < now + .minutes(2))
    }

    @Test func `gives up a member that was heard of in the future`() throws {
        try PostgresLog.provision(configuration, partitions: 4)
        let group = ConsumerGroup(name: "g", topic: .identityChecks)
        let stopped = try PostgresLog(configuration).reader("stopped", group: group)
        try stopped.poll { $0.owned.count == 4 }
        // The server's clock was three hours ahead, and is set back.
        try database.connect().query("UPDATE log.members SET heartbeat = clock_timestamp() + interval '3 hours'")
        let member = try PostgresLog(configuration).reader("member", group: group)
        try member.poll { $0.owned.count == 4 }
    }

    @Test func `belongs to the role of the log, and every member of it can use it`() throws {
        let connection = try database.connect()
        let (one, two, stranger) = (database.name + "_one", database.name + "_two", database.name + "_stranger")
        // The role is the whole server's, and other tests may make it too.
        try connection.script(
            """
            DO $$ BEGIN CREATE ROLE latchkey_log; EXCEPTION WHEN duplicate_object OR unique_violation THEN NULL; END $$;
            GRANT CREATE ON DATABASE \(database.name) TO latchkey_log;
            CREATE ROLE \(one) LOGIN PASSWORD 'test' IN ROLE latchkey_log;
            CREATE ROLE \(two) LOGIN PASSWORD 'test' IN ROLE latchkey_log;
            CREATE ROLE \(stranger) LOGIN PASSWORD 'test';
            """)
        defer {
            try? connection.script(
                "DROP OWNED BY latchkey_log CASCADE; DROP ROLE \(one); DROP ROLE \(two); DROP ROLE \(stranger)")
        }
        func log(_ role: String) -> PostgresLog.Configuration {
            var configuration = configuration
            configuration.connectionString += " user=\(role) password=test"
            return configuration
        }
        try PostgresLog.provision(log(one), partitions: 2)
        try PostgresLog.provision(log(two), partitions: 2)
        #expect(
            try connection.query("SELECT DISTINCT tableowner FROM pg_tables WHERE schemaname = 'log'").column(String.self)
                == ["latchkey_log"])
        try PostgresLog(log(one)).writer().append("from one", to: Self.replies)
        let group = ConsumerGroup(name: "g", topic: .identityChecks)
        let reader = try PostgresLog(log(two)).reader("two", group: group)
        #expect(try reader.read(Self.replies).map(\.text) == ["from one"])
        try reader.poll { $0.owned.count == 2 }
        let error = #expect(throws: LogError.self) { try PostgresLog(log(stranger)).describe() }
        #expect(error?.code == .misconfigured)
    }

    @Test func `commits events durably and commands not`() throws {
        try PostgresLog.provision(configuration, partitions: 1)
        let log = PostgresLog(configuration)
        let connection = try database.connect()
        // What the connections of a producer commit with, seen from inside an append.
        try connection.script(
            """
            CREATE TABLE seen (setting text);
            CREATE FUNCTION see() RETURNS trigger LANGUAGE plpgsql AS
                $$ BEGIN INSERT INTO seen VALUES (TG_TABLE_NAME || ' ' || current_setting('synchronous_commit')); RETURN NULL; END $$;
            CREATE TRIGGER see AFTER INSERT ON log.lasting_records EXECUTE FUNCTION see();
            CREATE TRIGGER see AFTER INSERT ON log.passing_records EXECUTE FUNCTION see();
            """)
        let writer = try log.writer()
        for topic in Topic.allCases { try writer.append("x", to: TopicPartition(topic, 0)) }
        #expect(
            try connection.query("SELECT DISTINCT setting FROM seen ORDER BY 1").column(String.self)
                == ["lasting_records on", "passing_records off"])
        #expect(
            try connection.query(
                "SELECT DISTINCT name FROM log.lasting_records AS r JOIN log.topics AS t ON t.id = r.topic ORDER BY 1"
            )
            .column(String.self) == ["identity.events", "keys", "notifier.events", "verification.events"])
    }

    /// What a process appends its own consumers are handed, and those of others fetch: both get the same records.
    @Test func `is read in one order, whoever appends`() throws {
        try PostgresLog.provision(configuration, partitions: 1)
        let logs = [PostgresLog(configuration), PostgresLog(configuration)]
        let writers = try logs.enumerated().map { try $1.writer("writer \($0)") }
        let readers = try logs.enumerated().map { try $1.reader("reader \($0)") }
        for reader in readers { reader.consumer.follow(Self.replies, from: 0) }
        var expected: [String] = []
        for round in 0..<60 {
            // Runs of one process, and single records of both in turn.
            let writer = writers[round < 30 ? round / 10 % 2 : round % 2]
            let texts = (0...(round % 3)).map { "\(round) \($0)" }
            let headers = [Header("ce_id", ""), Header("grün", "x"), Header("ce_id", [0, 255]), Header("", "")]
            try writer.append(
                texts.map { OutgoingRecord(partition: Self.replies, key: [], headers: headers, value: Array($0.utf8)) })
            expected += texts
            if round % 4 != 0 { try readers[round % 2].poll(timeout: .zero) }
        }
        for reader in readers {
            try reader.poll { $0.count(Self.replies) >= expected.count }
            let records = reader.records[Self.replies] ?? []
            #expect(records.map(\.text) == expected)
            #expect(records.map(\.offset) == Array(0..<Int64(expected.count)))
            #expect(reader.outOfRange.isEmpty && reader.interrupted.isEmpty)
        }
        #expect(readers[0].records == readers[1].records)
    }
}
