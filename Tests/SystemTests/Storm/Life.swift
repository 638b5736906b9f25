import Foundation
import HTTP
import JSON

/// One address, and all that its owner knows of its account.
///
/// Every step is asked for only once the one before it was answered, so that the owner knows exactly what must be true. A step
/// whose outcome nobody can tell may still come true for a while: it ends the life, and what it may have changed is noted.
struct Life: Sendable {
    struct Session: Sendable {
        var id: String
        var access: String
        var refresh: String
        /// The refresh tokens before that one, oldest first.
        var spent: [String] = []
        /// Wrong passwords within it, of which five in a row would end it.
        var failedChecks = 0
        /// When its end was acknowledged.
        var endedAt: ContinuousClock.Instant?

        /// As it is from now on.
        var ended: Session {
            var session = self
            session.endedAt = .now
            return session
        }
    }

    /// What may be otherwise than its owner knows.
    struct Doubts: OptionSet {
        let rawValue: Int
        static let account = Doubts(rawValue: 1)
        static let moreSessions = Doubts(rawValue: 2)
        static let fewerSessions = Doubts(rawValue: 4)
        static let verified = Doubts(rawValue: 8)
        static let name = Doubts(rawValue: 16)
    }

    let line: StormLine
    let email: String
    /// The id of its account.
    var user: String?
    var password = ""
    var name: String?
    var isVerified = false
    /// An address without an account that was confirmed lately: the next sign-up is verified.
    var hasFlag = false
    var live: [Session] = []
    var ended: [Session] = []
    /// Sessions of which nothing is certain.
    var unclear: [Session] = []
    var usersBefore: [String] = []

    var isOver = false
    var doubts: Doubts = []
    var otherPassword: String?

    /// By purpose: codes that were asked for, and those among them that were acknowledged.
    var asked: [String: Int] = [:]
    var acknowledged: [String: Int] = [:]
    /// A code that was asked for without an answer may come at any time, and void a later one.
    var codesAreUnclear = false
    var failedLogins = 0
    private(set) var history: [String] = []
    private(set) var violations: [String] = []
    /// Those of refresh, devices and resets, and what makes access tokens good.
    var tokens: [String] = []
    private(set) var answered = 0
    private(set) var lost = 0

    init(_ line: StormLine, email: String) {
        self.line = line
        self.email = email
    }

    // MARK: Notes

    /// Something that must not be.
    mutating func violated(_ rule: String, _ answer: Visitor.Answer? = nil) {
        let told = answer.map { ", but got \($0.status) \($0.error ?? "")" } ?? ""
        violations.append("\(rule)\(told); \(email): \(history.joined(separator: " · "))")
        isOver = true
    }

    /// Nobody can tell what came of it.
    mutating func over(_ doubts: Doubts) {
        self.doubts.formUnion(doubts)
        isOver = true
    }

    private mutating func note(_ what: String, _ answer: Visitor.Answer?) {
        history.append("\(what) → \(answer.map { "\($0.status)\($0.error.map { " \($0)" } ?? "")" } ?? "?")")
        guard let answer else {
            lost += 1
            return
        }
        answered += 1
        // Whatever was asked, these are all that there may be.
        if ![200, 201, 400, 401, 409].contains(answer.status) { violated("\(what) has no such answer", answer) }
    }

    mutating func ask(
        _ what: String, _ method: HTTPMethod, _ path: String, _ body: JSON? = nil, token: String? = nil
    ) async -> Visitor.Answer? {
        let answer = await line.ask(method, path, body, token: token)
        note(what, answer)
        return answer
    }

    /// The same request several times at once.
    mutating func askAtOnce(
        _ count: Int, _ what: String, _ method: HTTPMethod, _ path: String, _ body: JSON? = nil, token: String? = nil
    ) async -> [Visitor.Answer?] {
        let answers = await line.askAll(count, method, path, body, token: token)
        for answer in answers { note(what, answer) }
        return answers
    }

    // MARK: Sessions

    /// A session that an answer gives.
    static func session(in answer: Visitor.Answer) -> Session? {
        guard let access = answer.data("accessToken"), let refresh = answer.data("refreshToken"),
            let id = claim("sid", of: access)
        else { return nil }
        return Session(id: id, access: access, refresh: refresh)
    }

    private static func claim(_ name: String, of token: String) -> String? {
        let parts = token.split(separator: ".")
        guard parts.count == 3 else { return nil }
        var text = String(parts[1]).replacing("-", with: "+").replacing("_", with: "/")
        text += String(repeating: "=", count: (4 - text.count % 4) % 4)
        return Data(base64Encoded: text).flatMap { try? JSON.parse(Array($0)) }?[name]?.string
    }

    /// What signed in is a new session of the account.
    mutating func signedIn(_ answer: Visitor.Answer, status: Int, _ what: String) {
        guard answer.status == status, let session = Self.session(in: answer) else { return violated(what, answer) }
        tokens +=
            [session.refresh, String(session.access.split(separator: ".").last ?? "")]
            + [answer.data("deviceToken")].compactMap { $0 }
        let id = answer.body?["data"]?["user"]?["id"]?.string
        if let user, user != id { return violated("\(what): the user is another one", answer) }
        if usersBefore.contains(id ?? "") { return violated("\(what): an erased user is back", answer) }
        user = id
        live.append(session)
    }

    mutating func endSessions(except kept: String? = nil) {
        ended += (live.filter { $0.id != kept } + unclear).map(\.ended)
        live.removeAll { $0.id != kept }
        unclear = []
    }

    mutating func end(_ session: Session) {
        live.removeAll { $0.id == session.id }
        ended.append(session.ended)
    }
}
