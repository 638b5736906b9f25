import Crypto
import Glibc
import Runtime
import Testing

@Suite struct SettingsTests {
    private static let key = String(repeating: "0f", count: 32)

    private struct Sample: ServiceConfiguration {
        let common: CommonSettings
        let port: Int
        let secret: Secret
        let wait: Duration
        let isOpen: Bool
        let proxies: [String]
        let limit: Rate?
        let site: WebAddress?

        init(from settings: Settings) {
            common = CommonSettings(from: settings)
            port = settings.value("PORT", aliases: ["LATCHKEY_PORT"], .port, default: 3001, "The port.")
            secret = settings.required("SAMPLE_SECRET", .secret(bytes: 32), "The secret.")
            wait = settings.value("WAIT", .duration(.milliseconds(10)...(.seconds(60))), default: .seconds(5), "How long.")
            isOpen = settings.value("OPEN", .flag, default: false, "Whether it is open.")
            proxies = settings.value("PROXIES", .networks, default: [], "Who is trusted.")
            limit = settings.value("LIMIT", .rate, default: Rate(20, per: .seconds(900)), "How often.")
            site = settings.optional("SITE", .url(), "Where it is.")
            if settings.isSet("SITE") && !settings.isSet("SITE_OWNER") { settings.fault("SITE_OWNER", "is needed with SITE") }
        }
    }

    private static let complete: [String: String] = [
        "LATCHKEY_DATABASE_URL": "postgres://x:hidden@h/db", "LATCHKEY_LOG_MAC_KEYS": "1:\(key)", "SAMPLE_SECRET": key,
    ]

    private func load(_ changes: [String: String?]) throws -> Sample {
        var variables = Self.complete
        for (name, value) in changes { variables[name] = value }
        return try Sample.load(from: Environment(variables)).configuration
    }

    private func faults(_ changes: [String: String?]) -> [String] {
        do {
            _ = try load(changes)
            return []
        } catch {
            return (error as? ConfigurationError)?.faults.map(\.description) ?? ["\(error)"]
        }
    }

    @Test func `what can be done without may be missing, and nothing else may be wrong`() throws {
        var variables = Self.complete
        variables["SAMPLE_SECRET"] = nil
        let spared: Set = ["SAMPLE_SECRET"]
        #expect(try Sample.load(from: Environment(variables), dispensable: spared).configuration.secret.count == 0)
        variables["SAMPLE_SECRET"] = "short"
        #expect(throws: ConfigurationError.self) { try Sample.load(from: Environment(variables), dispensable: spared) }
        variables["SAMPLE_SECRET"] = nil
        variables["LATCHKEY_LOG_MAC_KEYS"] = nil
        #expect(throws: ConfigurationError.self) { try Sample.load(from: Environment(variables), dispensable: spared) }
    }

    @Test func `defaults stand in for what is not set`() throws {
        let sample = try load(["PORT": "", "WAIT": "  "])
        #expect(sample.common.environment == .production)
        #expect(sample.common.logLevel == .info)
        #expect(sample.common.partitions == 12)
        #expect(sample.common.logDatabaseURL == "postgres://x:hidden@h/db")
        #expect(sample.port == 3001)
        #expect(sample.wait == .seconds(5))
        #expect(!sample.isOpen)
        #expect(sample.proxies.isEmpty)
        #expect(sample.limit == Rate(20, per: .seconds(900)))
        #expect(sample.site == nil)
    }

    @Test func `every type is read`() throws {
        let sample = try load([
            "LATCHKEY_ENV": "development", "LATCHKEY_PORT": "80", "WAIT": "250ms", "OPEN": "Yes",
            "PROXIES": "10.0.0.0/8, ::1,192.0.2.1", "LIMIT": "off", "SITE": "https://[::1]:8443/a?b", "SITE_OWNER": "x",
            "LATCHKEY_LOG_MAC_KEYS": "1:\(Self.key), 7:Dw8PDw8PDw8PDw8PDw8PDw8PDw8PDw8PDw8PDw8PDw8=",
        ])
        #expect(sample.common.environment == .development)
        #expect(sample.port == 80)
        #expect(sample.wait == .milliseconds(250))
        #expect(sample.isOpen)
        #expect(sample.proxies == ["10.0.0.0/8", "::1", "192.0.2.1"])
        #expect(sample.limit == nil)
        #expect(sample.site?.host == "::1")
        #expect(sample.site?.port == 8443)
        #expect(sample.site?.path == "/a?b")
        #expect(sample.common.macKeys.map(\.number) == [1, 7])
        #expect(sample.common.macKeys[0].secret == sample.common.macKeys[1].secret)
        #expect(sample.secret == Secret([UInt8](repeating: 15, count: 32)))
    }

    @Test func `the name goes before its alias`() throws {
        #expect(try load(["PORT": "1", "LATCHKEY_PORT": "2"]).port == 1)
    }

    @Test func `all faults are reported together`() {
        let faults = faults([
            "LATCHKEY_DATABASE_URL": nil, "LATCHKEY_LOG_MAC_KEYS": "1:abc", "SAMPLE_SECRET": "sesame", "PORT": "65536",
            "WAIT": "5",
            "OPEN": "perhaps", "PROXIES": "10.0.0.0/33", "LIMIT": "0/1m", "SITE": "ftp://x", "LATCHKEY_ENV": "staging",
        ])
        #expect(
            faults == [
                #"LATCHKEY_ENV is "staging", which is not one of production, development, test"#,
                "LATCHKEY_DATABASE_URL is not set",
                "LATCHKEY_LOG_MAC_KEYS is not a list like 1:KEY,2:KEY, each KEY 32 bytes in hexadecimal or base64 and each number used once",
                #"PORT is "65536", which is not a port (1 to 65535)"#,
                "SAMPLE_SECRET is not 32 bytes in hexadecimal or base64",
                #"WAIT is "5", which is not a duration from 10ms to 1m, such as 30s"#,
                #"OPEN is "perhaps", which is not true or false"#,
                #"PROXIES is "10.0.0.0/33", which is not a list of networks such as 10.0.0.0/8, ::1, separated by commas"#,
                #"LIMIT is "0/1m", which is not a limit such as 20/15m, of at most 1000000, or off"#,
                #"SITE is "ftp://x", which is not a URL (http://… or https://…)"#,
                "SITE_OWNER is needed with SITE",
            ])
    }

    @Test(arguments: ["+80", "8 0", "0x50", "80.0", "-1", "0", "99999999999999999999", "٣"])
    func `a port is digits`(text: String) {
        #expect(faults(["PORT": text]).count == 1)
    }

    @Test(arguments: ["1h", "9ms", "-1s", "1.5s", "s", "1 s", "99999999999999999999s", "9223372036854775807d"])
    func `a duration has a unit and a range`(text: String) {
        #expect(faults(["WAIT": text]).count == 1)
    }

    @Test(arguments: ["1000001/1m", "2147483648/1m", "0/1m", "1/999ms", "1/1", "1", "/1m", "1/1m/1m", "on"])
    func `a limit has bounds`(text: String) throws {
        #expect(try load(["LIMIT": "1000000/1m"]).limit == Rate(1_000_000, per: .seconds(60)))
        #expect(faults(["LIMIT": text]).count == 1)
    }

    @Test(arguments: ["0f", String(repeating: "0f", count: 31) + "0", String(repeating: "0f", count: 33), "Dw8P", "🔑"])
    func `a secret has its length`(text: String) {
        #expect(faults(["SAMPLE_SECRET": text]) == ["SAMPLE_SECRET is not 32 bytes in hexadecimal or base64"])
    }

    @Test(arguments: ["1:KEY,1:KEY", "KEY", "0:KEY", "x:KEY", "1:KEY,", ":KEY", "70000:KEY"])
    func `numbered keys have one number each`(text: String) {
        let text = text.split(separator: "KEY", omittingEmptySubsequences: false).joined(separator: Self.key)
        #expect(faults(["LATCHKEY_LOG_MAC_KEYS": text]).count == 1)
    }

    @Test(arguments: [
        "example.com", "https://", "https://u:p@example.com", "https://example.com#x", "https://ex ample.com", "https://[::g]/",
        "https://example.com:0", "https://example.com:x", "//example.com", "https://example.com:99999",
    ])
    func `a URL is absolute and plain`(text: String) {
        #expect(WebAddress(text) == nil)
    }

    @Test func `a secret may stand in a file`() throws {
        let path = "/tmp/latchkey-settings-test-\(getpid())-\(UInt32.random(in: 0...UInt32.max))"
        let file = open(path, O_WRONLY | O_CREAT | O_EXCL, 0o600)
        defer { unlink(path) }
        let content = Array((Self.key + "\n").utf8)
        #expect(write(file, content, content.count) == content.count)
        close(file)

        #expect(try load(["SAMPLE_SECRET": nil, "SAMPLE_SECRET_FILE": path]).secret.count == 32)
        #expect(faults(["SAMPLE_SECRET_FILE": path]) == ["SAMPLE_SECRET_FILE is set, and SAMPLE_SECRET too"])
        #expect(
            faults(["SAMPLE_SECRET": nil, "SAMPLE_SECRET_FILE": path + "-missing"])
                == ["SAMPLE_SECRET_FILE names a file that cannot be read: No such file or directory"])
        #expect(
            faults(["SAMPLE_SECRET": nil, "SAMPLE_SECRET_FILE": "/dev/null"]) == ["SAMPLE_SECRET_FILE names a file that is empty"]
        )
    }

    @Test func `no secret stands in a fault`() {
        let text = faults(["SAMPLE_SECRET": "open sesame", "LATCHKEY_LOG_MAC_KEYS": "9:open sesame"]).joined()
        #expect(!text.contains("sesame"))
    }

    @Test func `misspelt variables are noticed, those of other services are not`() throws {
        let loaded = try Sample.load(
            from: Environment(
                Self.complete.merging(["LATCHKEY_PARTITION": "3", "LATCHKEY_COLOUR": "red", "LATCHKEY_STATE": "/x", "OTHER": "y"])
                { $1 }))
        #expect(loaded.unknownVariables.map(\.name) == ["LATCHKEY_COLOUR", "LATCHKEY_PARTITION"])
        #expect(loaded.unknownVariables.map(\.suggestion) == [nil, "LATCHKEY_PARTITIONS"])
    }

    @Test func `the help describes every variable`() {
        let program = ServiceProgram<Sample>(
            "sample", "A sample.", subcommands: [Subcommand("check", "Checks something.") { _, _, _ in 0 }]
        ) { _, _ in [] }
        let help = program.help()
        #expect(help.hasPrefix("sample \(Version.current): A sample.\n\nUsage:\n  sample [run]\n  sample check …\n"))
        #expect(help.contains("\n  check\n      Checks something.\n"))
        #expect(help.contains("\n  PORT, LATCHKEY_PORT (default: 3001)\n      The port.\n"))
        #expect(help.contains("\n  SAMPLE_SECRET (secret, required)\n      The secret.\n"))
        #expect(help.contains("\n  LIMIT (default: 20/15m)\n"))
        #expect(help.contains("\n  PROXIES (default: empty)\n"))
        #expect(help.contains("\n  SITE (optional)\n"))
        #expect(help.split(separator: "\n").allSatisfy { $0.count <= 100 })
    }

    @Test func `the environment of the process is read`() {
        #expect(Environment.ofProcess()["PATH"]?.isEmpty == false)
    }
}
