import EventSchema
import NotifierDomain
import NotifierService
import Runtime
import Testing

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
                "NOTIFIER_EMAIL is not set; where LATCHKEY_ENV is not development, the console has to be asked for: console"
            ])
        let configuration = try load(["LATCHKEY_ENV": environment, "NOTIFIER_EMAIL": "console", "CONSOLE_OUTBOX": "/tmp/outbox"])
        #expect(configuration.routes == [.email: Delivery.Route(["console"])])
        #expect(configuration.outbox == "/tmp/outbox")
        #expect(try load(["NOTIFIER_EMAIL": "console", "NOTIFIER_SMS": "console"]).routes[.sms] == Delivery.Route(["console"]))
    }

    @Test func `a provider that there is not is refused by name`() {
        #expect(
            faults(["NOTIFIER_EMAIL": "sendmail"]) == [
                "NOTIFIER_EMAIL is \"sendmail\", which is not the name of a provider that this release has: console"
            ])
    }

    @Test func `a half configuration names what is missing`() {
        let development = ["LATCHKEY_ENV": "development"]
        #expect(
            faults(development.merging(["RESEND_API_KEY": "re_1"]) { $1 }) == [
                "ADMIN_EMAIL is not set, although RESEND_API_KEY is: it is the sender's address"
            ])
        #expect(
            faults(development.merging(["ADMIN_EMAIL": "a@example.com"]) { $1 }) == [
                "RESEND_API_KEY is not set, although ADMIN_EMAIL is"
            ])
        #expect(
            faults(development.merging(["RESEND_API_KEY": "re_1", "ADMIN_EMAIL": "a@example.com"]) { $1 }) == [
                "RESEND_API_KEY is set, but this release delivers to the console only (NOTIFIER_EMAIL=console)"
            ])
    }

    @Test func `all faults are reported together, and no secret in them`() {
        let faults = faults(["NOTIFIER_SECRET": "short", "CONSOLE_OUTBOX": "/tmp/", "RESEND_API_KEY": "re_secret"])
        #expect(faults.count == 4)
        #expect(faults.contains { $0.hasPrefix("NOTIFIER_SECRET ") })
        #expect(faults.contains { $0.hasPrefix("CONSOLE_OUTBOX ") })
        #expect(faults.contains { $0.hasPrefix("ADMIN_EMAIL ") })
        #expect(faults.contains { $0.hasPrefix("NOTIFIER_EMAIL ") })
        #expect(!faults.joined().contains("re_secret"))
    }
}
