import HTTP
import JSON

/// Passwords change, and accounts end.
extension Life {
    mutating func changePassword(in session: Session) async {
        let new = Self.newPassword()
        let body: JSON = ["currentPassword": .string(password), "newPassword": .string(new)]
        guard let answer = await ask("change", .post, "/api/auth/change-password", body, token: session.access) else {
            otherPassword = new
            return over(.fewerSessions)
        }
        guard answer.status == 200 else { return violated("a password can be changed", answer) }
        password = new
        endSessions(except: session.id)
    }

    /// A wrong password within a session: of five in a row the last would end it.
    mutating func failCheck(in session: Session) async {
        guard session.failedChecks < 2, let index = live.firstIndex(where: { $0.id == session.id }) else { return }
        live[index].failedChecks += 1
        let isChange = Bool.random()
        let change: JSON = ["currentPassword": "Wrong-Horse-1", "newPassword": "Other-Horse-2"]
        let answer =
            isChange
            ? await ask("wrong change", .post, "/api/auth/change-password", change, token: session.access)
            : await ask("wrong erase", .delete, "/api/auth/me", ["password": "Wrong-Horse-1"], token: session.access)
        guard let answer else { return }
        if answer.status != 400 || answer.error != "INVALID_CREDENTIALS" { violated("a wrong password changes nothing", answer) }
    }

    mutating func resetPassword() async {
        guard let code = await code("password_reset") else { return }
        if Bool.random() {
            let wrong = await ask("wrong reset code", .post, "/api/auth/verify-reset-code", resetForm(Visitor.wrong(code)))
            guard wrong == nil || wrong?.error == "INVALID_OTP" else { return violated("a wrong code is refused", wrong) }
        }
        let exchanged = await askAtOnce(2, "reset code", .post, "/api/auth/verify-reset-code", resetForm(code))
        let given = exchanged.compactMap { $0?.data("resetToken") }
        guard given.count <= 1 else { return violated("a code was accepted twice") }
        guard let token = given.first else {
            if exchanged.contains(nil) { codesAreUnclear = true } else { violated("an acknowledged code is good", exchanged[0]) }
            return
        }
        tokens.append(token)
        let new = Self.newPassword()
        if Bool.random() {
            let weak: JSON = ["resetToken": .string(token), "newPassword": "weak"]
            let answer = await ask("weak reset", .post, "/api/auth/reset-password", weak)
            guard answer == nil || answer?.error == "VALIDATION_ERROR" else {
                return violated("a weak password is refused", answer)
            }
        }
        let form: JSON = ["resetToken": .string(token), "newPassword": .string(new)]
        let answers = await askAtOnce(2, "reset", .post, "/api/auth/reset-password", form)
        switch answers.count(where: { $0?.status == 200 }) {
        case 1:
            password = new
            isVerified = true
            endSessions()
        case 0 where answers.contains(nil):
            otherPassword = new
            over([.fewerSessions, .verified])
        case 0:
            violated("a reset token is good", answers[0])
        default:
            violated("a reset token was accepted twice")
        }
    }

    private func resetForm(_ code: String) -> JSON { ["email": .string(email), "code": .string(code)] }

    mutating func erase(in session: Session) async {
        let body: JSON = ["password": .string(password)]
        guard let answer = await ask("erase", .delete, "/api/auth/me", body, token: session.access) else {
            return over([.account, .fewerSessions])
        }
        guard answer.status == 200 else { return violated("an account can be erased", answer) }
        endSessions()
        usersBefore.append(user ?? "")
        user = nil
        name = nil
        isVerified = false
        hasFlag = false
    }

    /// What nobody ever issued.
    mutating func junk() async {
        let (answer, expected): (Visitor.Answer?, String)
        switch Int.random(in: 0..<5) {
        case 0:
            (answer, expected) = (await ask("junk body", .post, "/api/auth/login", ["email": 5]), "VALIDATION_ERROR")
        case 1:
            let form: JSON = ["resetToken": "bm9ib2R5IGV2ZXIgaXNzdWVkIHRoaXM", "newPassword": .string(Self.newPassword())]
            (answer, expected) = (await ask("junk reset", .post, "/api/auth/reset-password", form), "RESET_TOKEN_INVALID")
        case 2:
            let form: JSON = ["refreshToken": "bm9ib2R5IGV2ZXIgaXNzdWVkIHRoaXM"]
            (answer, expected) = (await ask("junk refresh", .post, "/api/auth/refresh", form), "REFRESH_TOKEN_INVALID")
        case 3:
            (answer, expected) = (await ask("junk token", .get, "/api/auth/me", token: "a.b.c"), "UNAUTHENTICATED")
        default:
            let body: JSON = ["email": .string(email), "password": "weak"]
            (answer, expected) = (await ask("weak password", .post, "/api/auth/register", body), "VALIDATION_ERROR")
        }
        if let answer, answer.error != expected { violated("junk is refused with \(expected)", answer) }
    }
}
