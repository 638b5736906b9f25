import Crypto
import EventSchema
import VerificationDomain

let noon = Timestamp(milliseconds: 1_767_268_800_000)
let ada = Subject(bytes: Array(1...16))!
let phone = Digest(bytes: Array(repeating: 7, count: 32))!
let tablet = Digest(bytes: Array(repeating: 8, count: 32))!
let account = AccountReference(
    user: Routing(secret: Secret([1])).userID(for: ada.routingKey, random: Array(repeating: 3, count: 10)), credentialVersion: 4)

/// A box that nobody can open, told from others by its first byte.
func box(_ mark: UInt8) -> SealedBox {
    Box(encoded: "1.k." + Base64URL.encode([mark] + Array(repeating: 0, count: 31) + Array(repeating: mark, count: 60)))!
}

/// What stands in for the keyed hash of a code.
func hmac(_ code: String) -> Digest { Digest(of: Array("hmac of \(code)".utf8)) }

func salt(_ code: String) -> [UInt8] { Array(Digest(of: Array("salt of \(code)".utf8)).bytes.prefix(16)) }

func drawn(_ code: String) -> DrawnCode { DrawnCode(hmac: hmac(code), salt: salt(code), code: box(2)) }

let right = "123456"
let wrong = "654321"

extension IssueCode {
    static func sample(
        purpose: Purpose = .emailVerification, locale: LanguageTag? = nil, overDailyLimit: Bool = false, decoy: Bool = false,
        account: AccountReference? = nil, device: Digest? = nil
    ) -> IssueCode {
        IssueCode(
            subject: ada, purpose: purpose, channel: purpose.channel, recipient: box(1), locale: locale,
            overDailyLimit: overDailyLimit, decoy: decoy, account: account, device: device)
    }
}

extension Challenge.Command {
    static func send(
        _ code: String = right, at now: Timestamp, overDailyLimit: Bool = false, decoy: Bool = false, device: Digest? = nil
    ) -> Self {
        .issue(.sample(overDailyLimit: overDailyLimit, decoy: decoy, device: device), drawn(code), at: now)
    }

    static func enter(_ code: String, at now: Timestamp, device: Digest? = nil) -> Self {
        .confirm(ConfirmCode(subject: ada, purpose: .emailVerification, code: box(3), device: device), .hmac(hmac(code)), at: now)
    }

    static func enterUnreadable(at now: Timestamp) -> Self {
        .confirm(ConfirmCode(subject: ada, purpose: .emailVerification, code: box(3)), .unreadable, at: now)
    }
}

extension Challenge.Event {
    static func issued(
        _ code: String = right, at now: Timestamp, lifetime: Interval = .minutes(5), decoy: Bool = false, device: Digest? = nil
    ) -> Self {
        let issued = CodeIssued(
            subject: ada, purpose: .emailVerification, channel: .email, digest: decoy ? nil : drawn(code).digest,
            salt: decoy ? nil : salt(code), expiresAt: now + lifetime, recipient: decoy ? nil : box(1),
            code: decoy ? nil : box(2),
            decoy: decoy, device: device)
        return Self(.codeIssued(issued), at: now)
    }

    static func missed(at now: Timestamp, device: Digest? = nil) -> Self {
        Self(.codeMissed(CodeMissed(subject: ada, purpose: .emailVerification, device: device)), at: now)
    }

    static func exhausted(at now: Timestamp, device: Digest? = nil) -> Self {
        Self(.codeExhausted(CodeExhausted(subject: ada, purpose: .emailVerification, device: device)), at: now)
    }

    static func confirmed(at now: Timestamp, device: Digest? = nil) -> Self {
        Self(
            .codeConfirmed(CodeConfirmed(subject: ada, purpose: .emailVerification, channel: .email, device: device)), at: now)
    }
}
