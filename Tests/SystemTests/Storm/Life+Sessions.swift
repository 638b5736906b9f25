import HTTP
import JSON

/// What is done with an account by who is signed in, or wants to be.
extension Life {
    mutating func logIn() async {
        guard let answer = await ask("login", .post, "/api/auth/login", credentials(password)) else {
            return over(.moreSessions)
        }
        signedIn(answer, status: 200, "the right password signs in")
    }

    mutating func logInWrongly() async {
        // Ten would block the address.
        guard failedLogins < 6 else { return }
        failedLogins += 1
        guard let answer = await ask("wrong login", .post, "/api/auth/login", credentials("Wrong-Horse-1")) else { return }
        if answer.error != "INVALID_CREDENTIALS" { violated("a wrong password does not sign in", answer) }
    }

    func credentials(_ password: String) -> JSON { ["email": .string(email), "password": .string(password)] }

    /// Two at once, as two tabs do, and again if no answer came.
    mutating func refresh(_ session: Session) async {
        let start = ContinuousClock.now
        let body: JSON = ["refreshToken": .string(session.refresh)]
        var answers = await askAtOnce(2, "refresh", .post, "/api/auth/refresh", body)
        let isClear = !answers.contains(nil)
        while answers.allSatisfy({ $0 == nil }), ContinuousClock.now - start < .seconds(20) {
            try? await Task.sleep(for: .milliseconds(300))
            answers = [await ask("refresh again", .post, "/api/auth/refresh", body)]
        }
        let given = answers.compactMap { $0 }
        var successor = session
        if let first = given.first {
            // The grace is 30 seconds from the first use.
            guard ContinuousClock.now - start < .seconds(25) || given.allSatisfy({ $0.status == 200 }) else {
                return doubt(session)
            }
            guard let new = Self.session(in: first), given.allSatisfy({ $0.data("refreshToken") == new.refresh }) else {
                return violated("a refresh token gives the same successor to all", given.first { $0.status != 200 } ?? first)
            }
            guard new.id == session.id else { return violated("a refresh stays in its session", first) }
            successor.access = new.access
            successor.refresh = new.refresh
            successor.spent.append(session.refresh)
            tokens.append(new.refresh)
        }
        // What was asked without an answer may be decided when the successor has been used: then it is a reuse.
        guard isClear else { return doubt(successor) }
        live.removeAll { $0.id == session.id }
        live.append(successor)
    }

    /// A session of which nothing is certain any more.
    private mutating func doubt(_ session: Session) {
        live.removeAll { $0.id == session.id }
        unclear.append(session)
    }

    /// A token whose successor was used ends the session.
    mutating func reuse(_ session: Session) async {
        guard session.spent.count >= 2, let old = session.spent.first else { return }
        let body: JSON = ["refreshToken": .string(old)]
        guard let answer = await ask("reuse", .post, "/api/auth/refresh", body) else { return doubt(session) }
        guard answer.error == "REFRESH_TOKEN_INVALID" else { return violated("an old refresh token is refused", answer) }
        end(session)
    }

    mutating func refreshEnded(_ session: Session) async {
        let body: JSON = ["refreshToken": .string(session.refresh)]
        guard let answer = await ask("refresh of an ended session", .post, "/api/auth/refresh", body) else { return }
        if answer.error != "REFRESH_TOKEN_INVALID" { violated("a session that ended stays so", answer) }
    }

    mutating func look(with session: Session) async {
        guard let answer = await ask("me", .get, "/api/auth/me", token: session.access) else { return }
        guard answer.status == 200 else { return violated("a live session's token is good", answer) }
        check(answer)
    }

    /// Every gateway knows within a second, not only the one that acknowledged it.
    mutating func lookInVain(with session: Session) async {
        if let end = session.endedAt { try? await Task.sleep(until: end + .seconds(1), clock: .continuous) }
        guard let answer = await ask("me in an ended session", .get, "/api/auth/me", token: session.access) else { return }
        if answer.status != 401 { violated("an ended session's token is void", answer) }
    }

    /// The user is as its owner knows.
    mutating func check(_ answer: Visitor.Answer) {
        let found = answer.body?["data"]?["user"]
        guard found?["id"]?.string == user, found?["email"]?.string == email else {
            return violated("it is the owner's account", answer)
        }
        if !doubts.contains(.verified), (found?["emailVerifiedAt"]?.string != nil) != isVerified {
            violated("the address is verified: \(isVerified)", answer)
        }
        if !doubts.contains(.name), found?["profile"]?["displayName"]?.string != name {
            violated("the name is \(name ?? "none")", answer)
        }
    }

    mutating func rename(in session: Session) async {
        let chosen = "Storm Walker \(Int.random(in: 0..<1_000_000))"
        let body: JSON = ["displayName": .string(chosen)]
        guard let answer = await ask("rename", .patch, "/api/auth/me", body, token: session.access) else { return over(.name) }
        guard answer.status == 200 else { return violated("a profile can be changed", answer) }
        name = chosen
        check(answer)
    }

    mutating func logOut(of session: Session) async {
        let answer =
            Bool.random()
            ? await ask("logout", .post, "/api/auth/logout", token: session.access)
            : await ask("logout by refresh token", .post, "/api/auth/logout", ["refreshToken": .string(session.refresh)])
        guard let answer else { return over(.fewerSessions) }
        guard answer.status == 200 else { return violated("a session can be left", answer) }
        end(session)
    }

    mutating func logOutEverywhere(in session: Session) async {
        guard let answer = await ask("logout-all", .post, "/api/auth/logout-all", token: session.access) else {
            return over(.fewerSessions)
        }
        guard answer.status == 200 else { return violated("all sessions can be left", answer) }
        endSessions()
    }
}
