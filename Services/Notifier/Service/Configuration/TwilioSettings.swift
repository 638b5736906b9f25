internal import Crypto
internal import Runtime

/// The account with Twilio that SMS are handed to.
public struct TwilioSettings: Sendable {
    public let account: TwilioProvider.Account
    public let origin: TwilioProvider.Origin

    /// `nil`: there is none, or not all of it; then that is noted.
    init?(from settings: Settings) {
        let sid = settings.optional("TWILIO_ACCOUNT_SID", .sid("AC"), "Account with Twilio that SMS are handed to.")
        let token = settings.optional(
            "TWILIO_AUTH_TOKEN", .secretText, "The account's token, or the secret of the API key that TWILIO_API_KEY names.")
        let key = settings.optional(
            "TWILIO_API_KEY", .sid("SK"), "SID of an API key of the account, which is better than the token.")
        let number = settings.optional("TWILIO_FROM", .text, "Number or name that SMS come from.")
        let service = settings.optional(
            "TWILIO_MESSAGING_SERVICE_SID", .sid("MG"), "Messaging Service that chooses the number that SMS come from.")

        let names = [
            "TWILIO_ACCOUNT_SID", "TWILIO_AUTH_TOKEN", "TWILIO_FROM", "TWILIO_MESSAGING_SERVICE_SID", "TWILIO_API_KEY",
        ]
        guard let first = names.first(where: settings.isSet) else { return nil }
        for name in names.prefix(2) where !settings.isSet(name) { settings.fault(name, "is not set, although \(first) is") }
        switch (settings.isSet("TWILIO_FROM"), settings.isSet("TWILIO_MESSAGING_SERVICE_SID")) {
        case (false, false):
            settings.fault("TWILIO_FROM", "is not set, although \(first) is, and neither is TWILIO_MESSAGING_SERVICE_SID")
        case (true, true): settings.fault("TWILIO_FROM", "is set, and TWILIO_MESSAGING_SERVICE_SID too")
        case (true, false), (false, true): break
        }
        let origin: TwilioProvider.Origin? = if let service { .messagingService(service) } else { number.map { .number($0) } }
        guard let sid, let token, let origin else { return nil }
        account = TwilioProvider.Account(sid: sid, user: key ?? sid, secret: Secret(Array(token.utf8)))
        self.origin = origin
    }
}

extension SettingType where Value == String {
    /// How Twilio names things: two letters for the kind, and 32 hexadecimal digits.
    fileprivate static func sid(_ kind: String) -> SettingType {
        SettingType(
            expectation: "a SID: \(kind) and 32 hexadecimal digits", placeholder: "",
            parse: { text in
                text.hasPrefix(kind) && text.utf8.count == kind.utf8.count + 32
                    && text.dropFirst(kind.count).utf8.allSatisfy { 48...57 ~= $0 || 97...102 ~= $0 } ? text : nil
            }, render: { $0 })
    }
}
