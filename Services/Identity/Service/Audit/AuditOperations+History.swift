internal import EventLog
internal import EventSchema
internal import Runtime

extension AuditOperations {
    private static let topics: [Topic] = [.verificationEvents, .identityEvents, .notifierEvents]

    /// Writes the events of a scope in the order of the log.
    func history(_ scope: HistoryScope, _ wanted: AuditArguments, _ stop: StopFlag, _ output: TextOutput) throws -> Int32 {
        let scope = try complete(scope, stop)
        let partitions = scope.partitions(among: try access.log.describe().partitions)
        let places = Self.topics.flatMap { topic in partitions.map { TopicPartition(topic, $0) } }
        let types = TypeFilter(names: wanted.types)
        let reading = try HistoryReading(
            places, of: access.log, access.authenticator, since: wanted.since, until: wanted.until, follow: wanted.follow
        ) { types.takes($0.body.type) && scope.takes($0) }
        let lines = HistoryLines(format: wanted.format, isForPeople: wanted.format == .table && output.isTerminal)
        let people = PersonalReading(keys: access.keys, database: access.database, reveal: wanted.reveal)
        if let heading = lines.heading { try output.write(heading) }
        var count = 0
        while !reading.isDone, !stop.isRaised {
            let events = try reading.next(within: .milliseconds(100))
            var rest = events[...]
            while !rest.isEmpty {
                let some = Array(rest.prefix(256))
                rest = rest.dropFirst(256)
                for (event, person) in zip(some, people.contents(of: some)) { try output.write(lines.line(event, person)) }
            }
            count += events.count
            if wanted.follow || !events.isEmpty { try output.flush() }
            try output.check()
        }
        try output.flush()
        if let outage = people.outage { Self.say("personal data was left out: \(outage)") }
        for place in reading.doubtful {
            Self.say("\(place) ends with records that count for nothing; 'identity audit prove' tells whether it was changed")
        }
        if count == 0, !wanted.follow { return nothingFound(scope) }
        return 0
    }

    private func nothingFound(_ scope: HistoryScope) -> Int32 {
        guard case .everything = scope else {
            Self.say("the log holds nothing of this user that fits")
            return ExitStatus.failure
        }
        Self.say("the log holds nothing that fits")
        return 0
    }

    /// A user may have identifiers that belong elsewhere: the user's own events name them.
    private func complete(_ scope: HistoryScope, _ stop: StopFlag) throws -> HistoryScope {
        guard case .user(let user, var keys) = scope else { return scope }
        try eachEvent(at: access.routing.routingKey(of: user), stop) { event in
            let names = EventNames(event)
            if names.users.contains(user) { keys.formUnion(names.subjects.map(\.routingKey)) }
        }
        return .user(user, keys)
    }

    /// Reads `identity.events` where a home is, from the beginning, and gives the events of that home that count.
    func eachEvent(at home: RoutingKey, _ stop: StopFlag, _ body: (EventEnvelope) throws -> Void) throws {
        let scan = try ChainScan(access.log, authenticator: access.authenticator, client: "audit")
        defer { scan.close() }
        let place = TopicPartition(.identityEvents, home.partition(among: scan.description.partitions))
        let end = try scan.end(of: place)
        if end == 0 { return }
        scan.follow(place, upTo: end)
        var quietSince = ContinuousClock.now
        while !scan.isDone, !stop.isRaised {
            for batch in try scan.next(within: .milliseconds(200)) {
                for event in batch.events where event.key == home.bytes && event.skipped == nil { try body(event) }
            }
            if scan.isAvailable { quietSince = .now }
            guard ContinuousClock.now - quietSince < .seconds(30) else {
                throw LogError(.unavailable, "the log could not be read for 30 seconds")
            }
        }
    }
}
