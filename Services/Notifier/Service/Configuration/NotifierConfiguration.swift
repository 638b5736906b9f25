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
    /// The sender of all e-mail.
    public let sender: MailAddress?
    public let smtp: SMTPSettings?
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
        let email = settings.optional(
            "NOTIFIER_EMAIL", .providers(ProviderName.forEmail),
            "Who delivers e-mail, in the order of preference: smtp, or console, one JSON line on standard output for each message. "
                + "Unset: whoever is configured; the console only in development.")
        let sms = settings.optional(
            "NOTIFIER_SMS", .providers(ProviderName.forSMS),
            "Who delivers SMS: console. Unset: nobody, except in development, where it is the console.")
        sender = settings.optional(
            "ADMIN_EMAIL", .mailAddress, "The sender of all e-mail: no-reply@example.com, or Latchkey <no-reply@example.com>.")
        smtp = SMTPSettings(from: settings, isDevelopment: isDevelopment)
        outbox = settings.optional(
            "CONSOLE_OUTBOX", .text, "File that the console appends its deliveries to, the same JSON lines.")
        templates = settings.optional(
            "NOTIFIER_TEMPLATES", .text,
            "Folder of own message templates, named like email_verification.en.txt and .html. They take the place of those that "
                + "come along.")
        if outbox?.hasSuffix("/") == true { settings.fault("CONSOLE_OUTBOX", "names a folder, not a file") }

        let configured = Self.refuseHalfConfigurations(settings, named: email ?? [])
        let isEmailFaulty = settings.faults.contains { $0.variable == "NOTIFIER_EMAIL" }
        if email == nil, configured.isEmpty, !isDevelopment, !isEmailFaulty {
            settings.fault(
                "NOTIFIER_EMAIL",
                "is not set, and no provider is configured; where LATCHKEY_ENV is not development, the console has to be asked for: "
                    + "console")
        }
        let fallback: [ProviderName]? = isDevelopment ? [.console] : nil
        var routes: [Channel: Delivery.Route] = [:]
        if let names = email ?? (configured.isEmpty ? fallback : configured) { routes[.email] = Self.route(names) }
        if let names = sms ?? fallback { routes[.sms] = Self.route(names) }
        self.routes = routes
    }

    private static func route(_ names: [ProviderName]) -> Delivery.Route { Delivery.Route(names.map(\.rawValue)) }

    /// Whoever sets up a provider wants its messages delivered by it: to write them to the console instead would be a surprise.
    ///
    /// - Returns: the providers of e-mail that are configured.
    private static func refuseHalfConfigurations(_ settings: Settings, named: [ProviderName]) -> [ProviderName] {
        let hasSender = settings.isSet("ADMIN_EMAIL")
        let hasResend = settings.isSet("RESEND_API_KEY")
        if hasResend {
            if hasSender {
                settings.fault("RESEND_API_KEY", "is set, but this release delivers e-mail by SMTP_HOST or to the console only")
            } else {
                settings.fault("ADMIN_EMAIL", "is not set, although RESEND_API_KEY is: it is the sender's address")
            }
        }
        let hasServer = settings.isSet("SMTP_HOST")
        if named.contains(.smtp), !hasServer { settings.fault("SMTP_HOST", "is not set, although NOTIFIER_EMAIL names smtp") }
        switch (hasServer, hasSender) {
        case (true, false): settings.fault("ADMIN_EMAIL", "is not set, although SMTP_HOST is: it is the sender's address")
        case (false, true): if !hasResend { settings.fault("SMTP_HOST", "is not set, although ADMIN_EMAIL is") }
        case (true, true), (false, false): break
        }
        return hasServer ? [.smtp] : []
    }
}

/// The providers that there are, by the names that settings and events have for them.
enum ProviderName: String, CaseIterable, Sendable {
    case console, smtp

    static let forEmail: [ProviderName] = [.smtp, .console]
    static let forSMS: [ProviderName] = [.console]
}

extension SettingType where Value == [ProviderName] {
    /// Names of providers, separated by commas, each once.
    fileprivate static func providers(_ known: [ProviderName]) -> SettingType {
        let names = known.map(\.rawValue)
        return SettingType(
            expectation: names.count == 1
                ? "the name of a provider that this release has: \(names[0])"
                : "a list of names of providers that this release has: \(names.joined(separator: ", "))",
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
