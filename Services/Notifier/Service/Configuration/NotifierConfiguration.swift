public import Crypto
public import EventSchema
public import NotifierDomain
public import Runtime

/// The Notifier's settings.
public struct NotifierConfiguration: ServiceConfiguration {
    public let common: CommonSettings
    public let secret: Secret
    /// Others that keys may be wrapped under.
    public let acceptedSecrets: [Secret]
    /// Who delivers what goes through a channel; a channel that nobody delivers through is absent.
    public let routes: [Channel: Delivery.Route]
    /// The sender of all e-mail.
    public let sender: MailAddress?
    public let smtp: SMTPSettings?
    /// The key of the account with Resend.
    public let resend: Secret?
    public let twilio: TwilioSettings?
    /// The file that the console's deliveries are appended to.
    public let outbox: String?
    /// A folder of templates in the place of those that Latchkey brings.
    public let templates: String?

    public init(from settings: Settings) {
        common = CommonSettings(from: settings)
        let isDevelopment = common.environment == .development
        secret = settings.required(
            "NOTIFIER_SECRET", .secret(bytes: 32),
            "Wraps the keys that recipients and codes are sealed to. The same for all notifiers.")
        acceptedSecrets = settings.value(
            "NOTIFIER_SECRET_ACCEPTED", .secrets(bytes: 32), default: [],
            "While NOTIFIER_SECRET is replaced: other secrets that keys may be wrapped under, first the new one, then the old one."
        )
        let email = settings.optional(
            "NOTIFIER_EMAIL", .providers(ProviderName.forEmail),
            "Who delivers e-mail, in the order of preference: resend, smtp, or console, one JSON line on standard output for each "
                + "message. Unset: whoever is configured; the console only in development.")
        let sms = settings.optional(
            "NOTIFIER_SMS", .providers(ProviderName.forSMS),
            "Who delivers SMS, in the order of preference: twilio, console. Unset: Twilio if it is configured; otherwise nobody, "
                + "except in development, where it is the console.")
        sender = settings.optional(
            "ADMIN_EMAIL", .mailAddress, "The sender of all e-mail: no-reply@example.com, or Latchkey <no-reply@example.com>.")
        resend = settings.optional(
            "RESEND_API_KEY", .secretText, "Key of the account with Resend that e-mail is handed to. ADMIN_EMAIL is the sender."
        ).map { Secret(Array($0.utf8)) }
        smtp = SMTPSettings(from: settings, isDevelopment: isDevelopment)
        twilio = TwilioSettings(from: settings)
        outbox = settings.optional(
            "CONSOLE_OUTBOX", .text, "File that the console appends its deliveries to, the same JSON lines.")
        templates = settings.optional(
            "NOTIFIER_TEMPLATES", .text,
            "Folder of own message templates, named like email_verification.en.txt and .html. They take the place of those that "
                + "come along.")
        if outbox?.hasSuffix("/") == true { settings.fault("CONSOLE_OUTBOX", "names a folder, not a file") }

        let configured = Self.configured(settings)
        Self.refuseHalfConfigurations(settings, named: (email ?? []) + (sms ?? []))
        let isEmailFaulty = settings.faults.contains { $0.variable == "NOTIFIER_EMAIL" }
        if email == nil, configured.isDisjoint(with: ProviderName.forEmail), !isDevelopment, !isEmailFaulty {
            settings.fault(
                "NOTIFIER_EMAIL",
                "is not set, and no provider is configured; where LATCHKEY_ENV is not development, the console has to be asked for: "
                    + "console")
        }
        var routes: [Channel: Delivery.Route] = [:]
        for (channel, chosen, known) in [(Channel.email, email, ProviderName.forEmail), (.sms, sms, ProviderName.forSMS)] {
            var names = chosen ?? known.filter(configured.contains)
            if names.isEmpty, isDevelopment { names = [.console] }
            if !names.isEmpty { routes[channel] = Delivery.Route(names.map(\.rawValue)) }
        }
        self.routes = routes
    }

    /// What each provider cannot do without.
    private static let keys: [(provider: ProviderName, variable: String)] = [
        (.resend, "RESEND_API_KEY"), (.smtp, "SMTP_HOST"), (.twilio, "TWILIO_ACCOUNT_SID"),
    ]

    private static func configured(_ settings: Settings) -> Set<ProviderName> {
        Set(keys.filter { settings.isSet($0.variable) }.map(\.provider))
    }

    /// Whoever sets up a provider wants its messages delivered by it: to write them to the console instead would be a surprise.
    private static func refuseHalfConfigurations(_ settings: Settings, named: [ProviderName]) {
        for (provider, variable) in keys where named.contains(provider) && !settings.isSet(variable) {
            let chooser = provider == .twilio ? "NOTIFIER_SMS" : "NOTIFIER_EMAIL"
            settings.fault(variable, "is not set, although \(chooser) names \(provider.rawValue)")
        }
        let mail = keys.filter { ProviderName.forEmail.contains($0.provider) }.map(\.variable)
        switch (mail.first(where: settings.isSet), settings.isSet("ADMIN_EMAIL")) {
        case (let variable?, false):
            settings.fault("ADMIN_EMAIL", "is not set, although \(variable) is: it is the sender's address")
        case (nil, true):
            settings.fault("SMTP_HOST", "is not set, although ADMIN_EMAIL is, and neither is RESEND_API_KEY")
        case (_?, true), (nil, false): break
        }
    }
}

/// The providers that there are, by the names that settings and events have for them.
enum ProviderName: String, CaseIterable, Sendable {
    case console, smtp, resend, twilio

    /// In the order in which they are asked unless settings say otherwise.
    static let forEmail: [ProviderName] = [.resend, .smtp, .console]
    static let forSMS: [ProviderName] = [.twilio, .console]
}

extension SettingType where Value == [ProviderName] {
    /// Names of providers, separated by commas, each once.
    fileprivate static func providers(_ known: [ProviderName]) -> SettingType {
        let names = known.map(\.rawValue)
        return SettingType(
            expectation: "a list of names of providers that there are: \(names.joined(separator: ", "))",
            placeholder: [],
            parse: { text in
                let chosen = text.split(separator: ",", omittingEmptySubsequences: false).map { name in
                    ProviderName(rawValue: String(name.drop { $0 == " " }.prefix { $0 != " " }))
                }
                let found = chosen.compactMap { $0 }
                return found.count == chosen.count && Set(found).count == found.count && found.allSatisfy(known.contains)
                    ? found : nil
            }, render: { $0.map(\.rawValue).joined(separator: ",") })
    }
}

extension SettingType where Value == MailAddress {
    fileprivate static var mailAddress: SettingType {
        SettingType(
            expectation: "an e-mail address in ASCII, such as no-reply@example.com or Latchkey <no-reply@example.com>",
            placeholder: MailAddress("no-reply@example.com")!, parse: { MailAddress($0) }, render: { $0.description })
    }
}
