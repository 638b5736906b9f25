public import Crypto
public import JSON

/// Asks Verification whether a code is the right one; if so, it is consumed.
public struct ConfirmCode: Message {
    public static let type = MessageType.confirmCode

    public var subject: Subject
    public var purpose: Purpose
    /// The six digits that were entered, sealed to Verification.
    public var code: Box
    /// The digest of the account's device token, where a valid one was presented: its budgets are its own.
    public var device: Digest?

    /// Whose password is to be reset, as the gateway looked it up: a code for another user or credential is no live code.
    public var account: AccountReference?

    public init(
        subject: Subject, purpose: Purpose, code: Box, device: Digest? = nil, account: AccountReference? = nil
    ) {
        self.subject = subject
        self.purpose = purpose
        self.code = code
        self.device = device
        self.account = account
    }

    public init(fields: Fields) throws(SchemaError) {
        subject = try fields.value("subject") { Subject($0) }
        purpose = try fields.choice("purpose")
        code = try fields.value("code") { Box(encoded: $0) }
        device = try fields.optional("device") { Digest($0) }
        account = try fields.optionalObject("account", AccountReference.init(fields:))
    }

    public var json: JSON {
        var object: JSONObject = [
            "subject": .string(subject.base64url),
            "purpose": .string(purpose.rawValue),
            "code": .string(code.encoded),
            "device": .text(device?.base64url),
        ]
        // Came later than the rest: what has none is written as it always was.
        if let account { object["account"] = account.json }
        return .object(object)
    }
}
