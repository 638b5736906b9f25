import Curl
import EventSchema
import NotifierDomain
import Runtime
import Testing

@testable import NotifierService

private let digits = String(repeating: "0a", count: 16)

@Suite struct NotifierConfigurationTests {
    private let secret = String(repeating: "5a", count: 32)

    private func load(_ more: [String: String]) throws(ConfigurationError) -> NotifierConfiguration {
        var variables = [
            "LATCHKEY_DATABASE_URL": "postgres://localhost/latchkey", "LATCHKEY_LOG_MAC_KEYS": "1:\(secret)",
            "NOTIFIER_SECRET": secret,
        ]
        variables.merge(more) { $1 }
        return try NotifierConfiguration.load(from: Environment(variables)).configuration
    }

    private func faults(_ more: [String: String]) -> [String] {
        do throws(ConfigurationError) {
            _ = try load(more)
            return []
        } catch {
            return error.faults.map(\.description)
        }
    }

    @Test func `in development the console delivers everything`() throws {
        let configuration = try load(["LATCHKEY_ENV": "development"])
        #expect(configuration.routes == [.email: Delivery.Route(["console"]), .sms: Delivery.Route(["console"])])
        #expect(configuration.outbox == nil)
    }

    @Test(arguments: ["production", "test", ""])
    func `elsewhere the console has to be asked for`(environment: String) throws {
        #expect(
            faults(["LATCHKEY_ENV": environment]) == [
                "NOTIFIER_EMAIL is not set, and no provider is configured; where LATCHKEY_ENV is not development, the console has to "
                    + "be asked for: console"
            ])
        let configuration = try load(["LATCHKEY_ENV": environment, "NOTIFIER_EMAIL": "console", "CONSOLE_OUTBOX": "/tmp/outbox"])
        #expect(configuration.routes == [.email: Delivery.Route(["console"])])
        #expect(configuration.outbox == "/tmp/outbox")
        #expect(try load(["NOTIFIER_EMAIL": "console", "NOTIFIER_SMS": "console"]).routes[.sms] == Delivery.Route(["console"]))
    }

    @Test func `a provider that there is not is refused by name`() {
        #expect(
            faults(["NOTIFIER_EMAIL": "sendmail"]) == [
                "NOTIFIER_EMAIL is \"sendmail\", which is not a list of names of providers that there are: resend, smtp, console"
            ])
    }

    private let smtp = ["SMTP_HOST": "mail.example.com", "ADMIN_EMAIL": "Latchkey <no-reply@example.com>"]

    @Test func `a mail server that is configured delivers, wherever this runs`() throws {
        for environment in ["production", "development"] {
            let configuration = try load(smtp.merging(["LATCHKEY_ENV": environment]) { $1 })
            #expect(configuration.routes[.email] == Delivery.Route(["smtp"]))
            #expect(configuration.sender == MailAddress("Latchkey <no-reply@example.com>"))
            let server = try #require(configuration.smtp?.server)
            #expect(server.host == "mail.example.com")
            #expect(server.port == 587)
            #expect(server.security == .startTLS)
            #expect(server.credentials == nil)
            #expect(server.replyTimeout == .seconds(30))
            #expect(configuration.smtp?.connections == 4)
        }
    }

    @Test(arguments: [("starttls", 587), ("tls", 465), ("none", 25)])
    func `the port is the usual one`(security: String, port: Int) throws {
        #expect(try load(smtp.merging(["SMTP_TLS": security]) { $1 }).smtp?.server.port == port)
        #expect(try load(smtp.merging(["SMTP_TLS": security, "SMTP_PORT": "2525"]) { $1 }).smtp?.server.port == 2525)
    }

    @Test func `providers are asked in the order that is set`() throws {
        let both = try load(smtp.merging(["NOTIFIER_EMAIL": "smtp, console"]) { $1 })
        #expect(both.routes[.email] == Delivery.Route(["smtp", "console"]))
        let console = try load(smtp.merging(["NOTIFIER_EMAIL": "console"]) { $1 })
        #expect(console.routes[.email] == Delivery.Route(["console"]))
        #expect(faults(smtp.merging(["NOTIFIER_EMAIL": "smtp,smtp"]) { $1 }).count == 1)
    }

    @Test(
        arguments: [
            (
                ["RESEND_API_KEY": "re_1"],
                ["ADMIN_EMAIL is not set, although RESEND_API_KEY is: it is the sender's address"]
            ),
            (["ADMIN_EMAIL": "a@example.com"], ["SMTP_HOST is not set, although ADMIN_EMAIL is, and neither is RESEND_API_KEY"]),
            (["SMTP_HOST": "mail.example.com"], ["ADMIN_EMAIL is not set, although SMTP_HOST is: it is the sender's address"]),
            (
                ["SMTP_USER": "me", "ADMIN_EMAIL": "a@example.com"],
                [
                    "SMTP_HOST is not set, although SMTP_USER is", "SMTP_PASSWORD is not set, although SMTP_USER is",
                    "SMTP_HOST is not set, although ADMIN_EMAIL is, and neither is RESEND_API_KEY",
                ]
            ),
            (["NOTIFIER_EMAIL": "resend"], ["RESEND_API_KEY is not set, although NOTIFIER_EMAIL names resend"]),
            (["NOTIFIER_SMS": "twilio"], ["TWILIO_ACCOUNT_SID is not set, although NOTIFIER_SMS names twilio"]),
            (
                ["TWILIO_FROM": "+12025550148"],
                [
                    "TWILIO_ACCOUNT_SID is not set, although TWILIO_FROM is",
                    "TWILIO_AUTH_TOKEN is not set, although TWILIO_FROM is",
                ]
            ),
            (
                ["TWILIO_ACCOUNT_SID": "AC\(digits)", "TWILIO_AUTH_TOKEN": "hush"],
                ["TWILIO_FROM is not set, although TWILIO_ACCOUNT_SID is, and neither is TWILIO_MESSAGING_SERVICE_SID"]
            ),
            (
                [
                    "TWILIO_ACCOUNT_SID": "AC\(digits)", "TWILIO_AUTH_TOKEN": "hush", "TWILIO_FROM": "x",
                    "TWILIO_MESSAGING_SERVICE_SID": "MG\(digits)",
                ], ["TWILIO_FROM is set, and TWILIO_MESSAGING_SERVICE_SID too"]
            ),
            (
                ["TWILIO_ACCOUNT_SID": "AC/../x", "TWILIO_AUTH_TOKEN": "hush", "TWILIO_FROM": "x"],
                ["TWILIO_ACCOUNT_SID is \"AC/../x\", which is not a SID: AC and 32 hexadecimal digits"]
            ),
            (["NOTIFIER_EMAIL": "smtp"], ["SMTP_HOST is not set, although NOTIFIER_EMAIL names smtp"]),
            (
                ["SMTP_HOST": "mail.example.com", "ADMIN_EMAIL": "a@example.com", "SMTP_PASSWORD": "secret"],
                ["SMTP_USER is not set, although SMTP_PASSWORD is"]
            ),
            (
                ["SMTP_HOST": "mail.example.com", "ADMIN_EMAIL": "a@example.com", "SMTP_CA_FILE": "/nonexistent.pem"],
                ["SMTP_CA_FILE names a file that cannot be read: No such file or directory"]
            ),
            (
                ["SMTP_HOST": "smtp://mail.example.com", "ADMIN_EMAIL": "a@example.com"],
                ["SMTP_HOST is \"smtp://mail.example.com\", which is not a domain name or an IP address"]
            ),
            (
                ["SMTP_HOST": "mail.example.com", "ADMIN_EMAIL": "me"],
                [
                    "ADMIN_EMAIL is \"me\", which is not an e-mail address in ASCII, such as no-reply@example.com or "
                        + "Latchkey <no-reply@example.com>"
                ]
            ),
        ] as [([String: String], [String])])
    func `a half configuration names what is missing`(variables: [String: String], expected: [String]) {
        #expect(faults(variables.merging(["LATCHKEY_ENV": "development"]) { $1 }) == expected)
    }

    @Test func `Resend comes before a mail server, and Twilio takes SMS`() throws {
        let resend = ["RESEND_API_KEY": "re_hush", "ADMIN_EMAIL": "a@example.com"]
        #expect(try load(resend).routes == [.email: Delivery.Route(["resend"])])
        #expect(try load(resend.merging(smtp) { $1 }).routes == [.email: Delivery.Route(["resend", "smtp"])])
        let twilio = ["TWILIO_ACCOUNT_SID": "AC\(digits)", "TWILIO_AUTH_TOKEN": "hush", "TWILIO_FROM": "+12025550148"]
        let configuration = try load(smtp.merging(twilio) { $1 })
        #expect(configuration.routes == [.email: Delivery.Route(["smtp"]), .sms: Delivery.Route(["twilio"])])
        #expect(configuration.twilio?.account.user == "AC\(digits)")
        #expect(configuration.twilio?.origin == .number("+12025550148"))
        let key = try load(smtp.merging(twilio.merging(["TWILIO_API_KEY": "SK\(digits)"]) { $1 }) { $1 })
        #expect(key.twilio?.account.user == "SK\(digits)")
        var printed = ""
        dump(key, to: &printed)
        dump(try load(resend), to: &printed)
        #expect(!printed.contains("hush"))
    }

    @Test func `a password is not sent in the clear, except in development`() throws {
        let open = smtp.merging(["SMTP_TLS": "none", "SMTP_USER": "me", "SMTP_PASSWORD": "hush"]) { $1 }
        #expect(
            faults(open) == ["SMTP_TLS is none: SMTP_PASSWORD would be sent in the clear, which only development allows"])
        #expect(try load(open.merging(["LATCHKEY_ENV": "development"]) { $1 }).smtp?.server.credentials?.user == "me")
    }

    @Test func `a password is printed nowhere`() throws {
        let variables = ["SMTP_TLS": "tls", "SMTP_USER": "me", "SMTP_PASSWORD": "hush-hush"]
        var printed = ""
        dump(try load(smtp.merging(variables) { $1 }), to: &printed)
        #expect(printed.contains("mail.example.com"))
        #expect(!printed.contains("hush"))
    }

    @Test func `all faults are reported together, and no secret in them`() {
        let faults = faults([
            "NOTIFIER_SECRET": "short", "CONSOLE_OUTBOX": "/tmp/", "RESEND_API_KEY": "re_secret", "SMTP_PASSWORD": "hush-hush",
            "NOTIFIER_EMAIL": "sendmail",
        ])
        #expect(faults.count == 6)
        #expect(faults.contains { $0.hasPrefix("NOTIFIER_SECRET ") })
        #expect(faults.contains { $0.hasPrefix("CONSOLE_OUTBOX ") })
        #expect(faults.contains { $0.hasPrefix("ADMIN_EMAIL ") })
        #expect(faults.contains { $0.hasPrefix("SMTP_HOST ") })
        #expect(faults.contains { $0.hasPrefix("SMTP_USER ") })
        #expect(faults.contains { $0.hasPrefix("NOTIFIER_EMAIL ") })
        #expect(!faults.joined().contains("re_secret"))
        #expect(!faults.joined().contains("hush"))
    }
}
