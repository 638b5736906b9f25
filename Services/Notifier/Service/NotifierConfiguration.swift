public import Crypto
public import EventSchema
public import NotifierDomain
public import Runtime

/// The Notifier's settings.
public struct NotifierConfiguration: ServiceConfiguration {
    public let common: CommonSettings
    public let secret: Secret
    /// Who delivers what goes through a channel; a channel that nobody delivers through is absent.
    public let routes: [Channel: Delivery.Route]
    /// The file that the console's deliveries are appended to.
    public let outbox: String?
    /// A folder of templates in the place of those that Latchkey brings.
    public let templates: String?

    public init(from settings: Settings) {
        common = CommonSettings(from: settings)
        secret = settings.required(
            "NOTIFIER_SECRET", .secret(bytes: 32),
            "Wraps the keys that recipients and codes are sealed to. The same for all notifiers.")
        let email = settings.optional(
            "NOTIFIER_EMAIL", .provider,
            "Who delivers e-mail: console, one JSON line on standard output for each message. Has to be set unless LATCHKEY_ENV is "
                + "development.")
        let sms = settings.optional(
            "NOTIFIER_SMS", .provider, "Who delivers SMS: console. Unset: nobody, except in development, where it is the console."
        )
        outbox = settings.optional(
            "CONSOLE_OUTBOX", .text, "File that the console appends its deliveries to, the same JSON lines.")
        templates = settings.optional(
            "NOTIFIER_TEMPLATES", .text,
            "Folder of own message templates, named like email_verification.en.txt. They take the place of those that come along."
        )

        Self.refuseHalfConfigurations(settings)
        let isDevelopment = common.environment == .development
        if email == nil, !isDevelopment, !settings.faults.contains(where: { $0.variable == "NOTIFIER_EMAIL" }) {
            settings.fault(
                "NOTIFIER_EMAIL", "is not set; where LATCHKEY_ENV is not development, the console has to be asked for: console")
        }
        if outbox?.hasSuffix("/") == true { settings.fault("CONSOLE_OUTBOX", "names a folder, not a file") }

        var routes: [Channel: Delivery.Route] = [:]
        for (channel, choice) in [(Channel.email, email), (.sms, sms)] {
            if let provider = choice ?? (isDevelopment ? .console : nil) { routes[channel] = Delivery.Route([provider.rawValue]) }
        }
        self.routes = routes
    }

    /// Whoever sets up a provider wants its messages delivered: to write them to the console instead would be a surprise.
    private static func refuseHalfConfigurations(_ settings: Settings) {
        switch (settings.isSet("RESEND_API_KEY"), settings.isSet("ADMIN_EMAIL")) {
        case (true, false): settings.fault("ADMIN_EMAIL", "is not set, although RESEND_API_KEY is: it is the sender's address")
        case (true, true):
            settings.fault("RESEND_API_KEY", "is set, but this release delivers to the console only (NOTIFIER_EMAIL=console)")
        case (false, true): settings.fault("RESEND_API_KEY", "is not set, although ADMIN_EMAIL is")
        case (false, false): break
        }
    }
}

/// The providers that there are, by the names that settings and events have for them.
enum ProviderName: String, CaseIterable, Sendable {
    case console
}

extension SettingType where Value == ProviderName {
    fileprivate static var provider: SettingType {
        SettingType(
            expectation: "the name of a provider that this release has: console", placeholder: .console,
            parse: { ProviderName(rawValue: $0) }, render: { $0.rawValue })
    }
}
