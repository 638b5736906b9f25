import HTTP
import JSON

/// From an address to an account.
extension Life {
    private static let countOfNames = 1_000_000

    /// One that nobody else has, and that stands in no list.
    static func newPassword() -> String { "Storm-Horse-\(Int.random(in: 0..<countOfNames))-Battery" }

    /// Asks for a code and gives it; `nil` where that has failed, which harms nothing.
    mutating func code(_ purpose: String) async -> String? {
        guard !codesAreUnclear, asked[purpose, default: 0] < 5 else { return nil }
        asked[purpose, default: 0] += 1
        let body: JSON = ["channel": "email", "identifier": .string(email), "purpose": .string(purpose)]
        guard let answer = await ask("send", .post, "/api/verification/send", body) else {
            codesAreUnclear = true
            return nil
        }
        guard answer.isSuccess else {
            violated("a code is sent", answer)
            return nil
        }
        // For an address without an account the answer is the same, and nothing comes.
        guard purpose == "email_verification" || user != nil else { return nil }
        acknowledged[purpose, default: 0] += 1
        return await deliveredCode(purpose)
    }

    /// The code that was acknowledged last.
    private mutating func deliveredCode(_ purpose: String) async -> String? {
        let wanted = acknowledged[purpose, default: 0]
        // Its time is over after five minutes.
        let end = ContinuousClock.now + .seconds(120)
        while ContinuousClock.now < end {
            let codes = line.outbox.deliveries(to: email).filter { $0.purpose == purpose }.compactMap(\.code)
            if codes.count >= wanted, let code = codes.last {
                return code
            }
            try? await Task.sleep(for: .milliseconds(20))
        }
        violated("an acknowledged code (\(purpose), number \(wanted)) is delivered")
        return nil
    }

    /// Three at once confirm the same code.
    mutating func confirmAddress() async {
        guard let code = await code("email_verification") else { return }
        if Bool.random() {
            let wrong = await ask("wrong code", .post, "/api/verification/confirm", confirmation(Visitor.wrong(code)))
            guard wrong == nil || wrong?.error == "INVALID_OTP" else { return violated("a wrong code is refused", wrong) }
        }
        let answers = await askAtOnce(3, "confirm", .post, "/api/verification/confirm", confirmation(code))
        switch answers.count(where: { $0?.isSuccess == true }) {
        case 1:
            if user == nil { hasFlag = true } else { isVerified = true }
        case 0 where answers.contains(nil):
            over(.verified)
        case 0:
            violated("an acknowledged code is good", answers[0])
        default:
            violated("a code was accepted twice")
        }
    }

    private func confirmation(_ code: String) -> JSON {
        ["identifier": .string(email), "code": .string(code), "purpose": "email_verification"]
    }

    mutating func register() async {
        let new = Self.newPassword()
        let body: JSON = ["email": .string(email), "password": .string(new)]
        guard let answer = await ask("register", .post, "/api/auth/register", body) else {
            if user == nil {
                otherPassword = new
                over([.account, .moreSessions])
            }
            return
        }
        guard user == nil else {
            if answer.error != "ACCOUNT_EXISTS" { violated("an address has one account", answer) }
            return
        }
        password = new
        name = nil
        isVerified = hasFlag
        hasFlag = false
        signedIn(answer, status: 201, "a registration signs in")
    }

    /// Where the screen that verifies the address stands among the others.
    enum Order: CaseIterable { case before, inline, between, never }

    mutating func onboard(_ order: Order) async {
        if order == .before { await confirmAddress() }
        var form: JSONObject = ["email": .string(email)]
        if order == .inline, !isOver {
            guard let code = await code("email_verification") else { return }
            form["code"] = .string(code)
        }
        guard !isOver else { return }
        let new = Self.newPassword()
        form["password"] = .string(new)
        guard let started = await ask("onboarding", .post, "/api/onboarding/session", .object(form)) else {
            // There is no account, whatever came of it; only the proof may be used up.
            return over([])
        }
        guard user == nil else {
            if started.error != "ACCOUNT_EXISTS" { violated("an address has one account", started) }
            return
        }
        guard started.status == 201, let token = started.data("onboardingToken") else {
            return violated("an onboarding session starts", started)
        }
        var sessionIsVerified = hasFlag || order == .inline
        hasFlag = false
        if order == .between {
            await confirmAddress()
            guard !isOver else { return }
            // One that was not confirmed, for want of a code, is as it was.
            sessionIsVerified = sessionIsVerified || hasFlag
        }
        await complete(token, new, isVerified: sessionIsVerified)
    }

    private mutating func complete(_ token: String, _ new: String, isVerified expected: Bool) async {
        let chosen = "Storm Rider \(Int.random(in: 0..<Self.countOfNames))"
        guard
            let patched = await ask(
                "patch", .patch, "/api/onboarding/session", ["displayName": .string(chosen)], token: token)
        else { return over([]) }
        let session = patched.body?["data"]?["session"]
        guard patched.status == 200, session?["profile"]?["displayName"]?.string == chosen else {
            return violated("an onboarding session can be changed", patched)
        }
        guard (session?["emailVerifiedAt"]?.string != nil) == expected else {
            return violated("an onboarding session is verified: \(expected)", patched)
        }
        let answers = await askAtOnce(2, "complete", .post, "/api/onboarding/complete", token: token)
        let given = answers.compactMap { $0 }
        guard let first = given.first else {
            otherPassword = new
            return over([.account, .moreSessions])
        }
        guard given.allSatisfy({ $0.status == 201 && $0.data("refreshToken") == first.data("refreshToken") }) else {
            return violated("completing twice gives the same", given.first { $0.status != 201 } ?? first)
        }
        password = new
        name = chosen
        isVerified = expected
        // Confirmed between, the proof was the session's; the flag that was kept as well is not used up.
        signedIn(first, status: 201, "completing signs in")
        // The answer that got lost may still be on its way, and would be the same.
    }
}
