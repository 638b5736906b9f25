import HTTP
import JSON

/// When everything is quiet again: whatever was acknowledged is there.
extension Life {
    mutating func reckon() async {
        checkDeliveries()
        var signedIn: [(password: String, session: Session)] = []
        for candidate in Set([password, otherPassword ?? ""]) where !candidate.isEmpty {
            guard let answer = await quietly("login", .post, "/api/auth/login", credentials(candidate)) else { return }
            if let session = Self.session(in: answer) { signedIn.append((candidate, session)) }
        }
        if signedIn.count > 1 { violated("an account has one password") }
        guard let (_, session) = signedIn.first else {
            if user != nil, !doubts.contains(.account) { violated("an acknowledged account is there") }
            return
        }
        guard user != nil || doubts.contains(.account) else { return violated("an account that was erased is gone") }
        guard let me = await quietly("me", .get, "/api/auth/me", token: session.access) else { return }
        // An account that nobody acknowledged may have come about in several ways.
        if user != nil { check(me) }
        await compareSessions(besides: session)
    }

    private mutating func compareSessions(besides own: Session) async {
        guard let answer = await quietly("sessions", .get, "/api/auth/sessions", token: own.access) else { return }
        let ids = (answer.body?["data"]?["sessions"]?.array ?? []).compactMap { $0["id"]?.string }
        let actual = Set(ids).subtracting([own.id])
        if actual.count != ids.count - 1 { violated("each session is listed once, the own one too", answer) }
        let known = Set(live.map(\.id))
        if !doubts.contains(.fewerSessions), !known.isSubset(of: actual) {
            violated("acknowledged sessions are there: \(known.subtracting(actual)) are not")
        }
        if !doubts.contains(.moreSessions), !actual.isSubset(of: known.union(unclear.map(\.id))) {
            violated("there are no sessions that nobody knows of: \(actual.subtracting(known))")
        }
        let back = actual.intersection(ended.map(\.id))
        if !back.isEmpty { violated("sessions that ended are there: \(back)") }
        if doubts.isDisjoint(with: .fewerSessions), let session = live.randomElement() {
            guard let answer = await quietly("me in an older session", .get, "/api/auth/me", token: session.access) else {
                return
            }
            if answer.status != 200 { violated("an acknowledged session's token is good", answer) }
        }
        if let session = ended.randomElement() {
            guard let answer = await quietly("me in an ended session", .get, "/api/auth/me", token: session.access) else {
                return
            }
            if answer.status != 401 { violated("an ended session's token is void", answer) }
        }
    }

    private mutating func checkDeliveries() {
        let deliveries = line.outbox.deliveries(to: email)
        if Set(deliveries.map(\.id)).count != deliveries.count { violated("nothing is delivered twice") }
        for (purpose, asked) in asked {
            let count = deliveries.count { $0.purpose == purpose && $0.code != nil }
            let least = acknowledged[purpose, default: 0]
            if count < least || count > asked { violated("\(least) to \(asked) codes (\(purpose)) are delivered, not \(count)") }
        }
    }

    /// An answer must come by now, if not at once: others look at the same time.
    private mutating func quietly(
        _ what: String, _ method: HTTPMethod, _ path: String, _ body: JSON? = nil, token: String? = nil
    ) async -> Visitor.Answer? {
        let end = ContinuousClock.now + .seconds(60)
        while ContinuousClock.now < end {
            if let answer = await ask("at last: \(what)", method, path, body, token: token) { return answer }
            // Of a login that got no answer there may be a session.
            if path.hasSuffix("login") { doubts.insert(.moreSessions) }
            try? await Task.sleep(for: .milliseconds(500))
        }
        violated("there is no answer to \(what), though all is quiet")
        return nil
    }
}
