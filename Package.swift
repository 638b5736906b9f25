// swift-tools-version: 6.2
import PackageDescription

/// One place for what every Swift target is compiled with: Swift 6 language mode, the stricter upcoming features, and
/// no warnings left standing.
let strict: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
    .treatAllWarnings(as: .error),
]

/// What others are generic over, or call for every byte: optimised together with the modules that use it.
let inlined = strict + [.unsafeFlags(["-cross-module-optimization"], .when(configuration: .release))]

/// A library of the shared part, or of a service.
func library(
    _ name: String, _ path: String, _ dependencies: [Target.Dependency], exclude: [String] = [], resources: [Resource] = [],
    settings: [SwiftSetting] = strict
) -> Target {
    .target(name: name, dependencies: dependencies, path: path, exclude: exclude, resources: resources, swiftSettings: settings)
}

/// Takes the place of the C library's `malloc`, which finds memory the slower the more small pieces a process holds. In tests it
/// would take that of a sanitizer.
let allocator: [LinkerSetting] = [.linkedLibrary("jemalloc", .when(configuration: .release))]

/// The executable of a service: `main` and nothing else.
func service(_ name: String, _ path: String, _ dependencies: [Target.Dependency]) -> Target {
    .executableTarget(name: name, dependencies: dependencies, path: path, swiftSettings: strict, linkerSettings: allocator)
}

/// A test target below `Tests`, named after its folder.
func tests(_ name: String, _ dependencies: [Target.Dependency], resources: [Resource] = []) -> Target {
    .testTarget(name: name, dependencies: dependencies, path: "Tests/\(name)", resources: resources, swiftSettings: strict)
}

/// A C library of the distribution. Each is imported by exactly one Swift module.
func system(_ name: String, pkgConfig: String, apt: String, at folder: String = "Shared/C") -> Target {
    .systemLibrary(name: name, path: "\(folder)/\(name)", pkgConfig: pkgConfig, providers: [.apt([apt])])
}

let package = Package(
    name: "latchkey",
    products: [
        .executable(name: "gateway", targets: ["gateway"]),
        .executable(name: "verification", targets: ["verification"]),
        .executable(name: "identity", targets: ["identity"]),
        .executable(name: "notifier", targets: ["notifier"]),
    ],
    targets: [
        // The C libraries.
        system("CPostgres", pkgConfig: "libpq", apt: "libpq-dev"),
        system("COpenSSL", pkgConfig: "libcrypto", apt: "libssl-dev"),
        system("CSodium", pkgConfig: "libsodium", apt: "libsodium-dev"),
        system("CArgon2", pkgConfig: "libargon2", apt: "libargon2-dev"),
        system("CCrypt", pkgConfig: "libcrypt", apt: "libcrypt-dev"),
        system("CMicroHTTPD", pkgConfig: "libmicrohttpd", apt: "libmicrohttpd-dev"),
        system("CIDN2", pkgConfig: "libidn2", apt: "libidn2-dev"),
        system("CCurl", pkgConfig: "libcurl", apt: "libcurl4-openssl-dev"),
        system("CKafka", pkgConfig: "rdkafka", apt: "librdkafka-dev"),
        .target(
            name: "CListedPasswords", path: "Shared/C/CListedPasswords", exclude: ["LICENSE.zxcvbn", "passwords.txt"]),
        .target(name: "CLentMemory", path: "Shared/C/CLentMemory"),
        .target(name: "CPhoneNumber", path: "Shared/C/CPhoneNumber", linkerSettings: [.linkedLibrary("phonenumber")]),

        // What the services share.
        library("JSON", "Shared/JSON", [], settings: inlined),
        library("SeededRandom", "Shared/SeededRandom", []),
        library(
            "Crypto", "Shared/Crypto", ["JSON", "COpenSSL", "CSodium", "CArgon2", "CCrypt", "CLentMemory"], settings: inlined),
        library("EventSchema", "Shared/EventSchema/Schema", ["JSON", "Crypto"], settings: inlined),
        library("Identifiers", "Shared/EventSchema/Identifiers", ["EventSchema", "CIDN2", "CPhoneNumber"]),
        library("EventLog", "Shared/EventLog/Core", ["JSON", "Crypto", "EventSchema"], settings: inlined),
        library(
            "EventLogSimulated", "Shared/EventLog/Simulated", ["EventLog", "EventSchema", "Crypto", "Runtime", "SeededRandom"]),
        library(
            "EventLogPostgres", "Shared/EventLog/Postgres", ["EventLog", "EventSchema", "Postgres", "Runtime"],
            resources: [.embedInCode("Migrations")]),
        library(
            "Projections", "Shared/EventLog/Projections", ["EventLog", "EventSchema", "Postgres"],
            resources: [.embedInCode("Migrations")], settings: inlined),
        library(
            "AttachedProjections", "Shared/EventLog/Attached", ["EventLog", "EventSchema", "Postgres", "Runtime"],
            resources: [.embedInCode("Migrations")]),
        library("EventLogKafka", "Shared/EventLog/Kafka", ["CKafka", "EventLog", "EventSchema", "Crypto", "JSON", "Runtime"]),
        library("LogBackends", "Shared/EventLog/Backends", ["EventLog", "EventLogKafka", "EventLogPostgres", "Runtime"]),
        library(
            "LoopService", "Shared/EventLog/Running", ["Crypto", "EventLog", "EventSchema", "Postgres", "Runtime"],
            settings: inlined),
        library("Runtime", "Shared/Runtime", ["JSON", "Crypto"]),
        library("Postgres", "Shared/Postgres", ["CPostgres", "Runtime"]),
        library("HTTP", "Shared/HTTP", ["CMicroHTTPD", "JSON", "Runtime"]),
        library("Curl", "Shared/Curl", ["CCurl"]),
        library(
            "Sealing", "Shared/Sealing", ["Crypto", "JSON", "EventSchema", "EventLog", "Postgres", "Runtime"],
            resources: [.embedInCode("Migrations")]),

        // Gateway
        library(
            "GatewayService", "Services/Gateway/Service",
            [
                "CListedPasswords", "EventLog", "LoopService", "EventSchema", "Identifiers", "Crypto", "JSON", "HTTP",
                "Postgres", "Runtime", "Sealing",
            ],
            resources: [.embedInCode("Migrations")]),
        service("gateway", "Services/Gateway/Main", ["GatewayService", "EventLog", "LogBackends", "LoopService", "Runtime"]),
        // Verification
        library("VerificationDomain", "Services/Verification/Domain", ["EventSchema"]),
        library(
            "VerificationService", "Services/Verification/Service",
            [
                "VerificationDomain", "LoopService", "EventLog", "EventSchema", "Crypto", "JSON", "HTTP", "Postgres", "Runtime",
                "Sealing",
            ]),
        service(
            "verification", "Services/Verification/Main",
            ["VerificationService", "EventLog", "LogBackends", "LoopService", "Runtime"]),
        // Identity
        library("IdentityDomain", "Services/Identity/Domain", ["EventSchema"]),
        library(
            "IdentityService", "Services/Identity/Service",
            [
                "AttachedProjections", "IdentityDomain", "EventLog", "EventSchema", "Identifiers", "Crypto", "JSON", "HTTP",
                "LoopService", "Postgres", "Projections", "Runtime", "Sealing",
            ],
            resources: [
                .embedInCode("Migrations"), .embedInCode("Keys/Migrations"), .embedInCode("Keys/Restoring/Migrations"),
                .embedInCode("Daily/Migrations"),
            ]),
        service(
            "identity", "Services/Identity/Main",
            ["IdentityService", "EventLog", "EventSchema", "LogBackends", "LoopService", "Runtime"]),
        // Notifier
        library("NotifierDomain", "Services/Notifier/Domain", ["EventSchema"]),
        library(
            "NotifierService", "Services/Notifier/Service",
            [
                "NotifierDomain", "EventLog", "EventSchema", "Crypto", "Curl", "JSON", "HTTP", "LoopService", "Postgres",
                "Projections",
                "Runtime",
                "Sealing",
            ],
            resources: [.embedInCode("Migrations"), .embedInCode("Templates")]),
        service("notifier", "Services/Notifier/Main", ["NotifierService", "EventLog", "LogBackends", "LoopService", "Runtime"]),

        // Tests
        library("TestSupport", "Tests/TestSupport", ["Crypto", "EventLog", "EventSchema", "Postgres", "Runtime"]),
        system("CTLS", pkgConfig: "libssl", apt: "libssl-dev", at: "Tests/C"),
        library("TestPeers", "Tests/TestPeers", ["CTLS", "Runtime"]),
        tests("JSONTests", ["JSON", "SeededRandom"]),
        tests("CryptoTests", ["Crypto", "JSON"]),
        tests(
            "EventSchemaTests", ["EventSchema", "Identifiers", "JSON", "Crypto", "SeededRandom"], resources: [.copy("Golden")]),
        tests("EventLogTests", ["EventLog", "EventLogSimulated", "EventSchema", "Crypto", "JSON", "SeededRandom"]),
        tests(
            "SimulationTests",
            [
                "EventLog", "EventLogSimulated", "EventSchema", "Crypto", "JSON", "SeededRandom", "VerificationDomain",
                "VerificationService",
            ]),
        tests(
            "LogContractTests",
            [
                "Crypto", "EventLog", "EventLogKafka", "EventLogSimulated", "EventLogPostgres", "EventSchema", "IdentityService",
                "Postgres", "Runtime", "TestSupport",
            ]),
        tests("RuntimeTests", ["Runtime", "JSON", "Crypto"]),
        tests("PostgresTests", ["Postgres", "TestSupport"]),
        tests("SealingTests", ["Sealing", "TestSupport", "EventLog", "EventSchema", "Crypto", "Postgres", "Runtime"]),
        tests("CurlTests", ["Curl", "TestPeers", "TestSupport", "Runtime"]),
        tests("HTTPTests", ["HTTP", "JSON", "Runtime"]),
        tests(
            "VerificationTests",
            [
                "TestSupport", "VerificationDomain", "VerificationService", "EventSchema", "Crypto", "JSON", "EventLog",
                "EventLogSimulated", "Runtime", "Sealing", "SeededRandom",
            ]),
        tests(
            "IdentityTests",
            [
                "TestSupport", "AttachedProjections", "IdentityDomain", "IdentityService", "EventSchema", "Identifiers", "Crypto",
                "JSON", "EventLog",
                "EventLogSimulated",
                "LoopService", "Postgres", "Projections", "Runtime", "Sealing", "SeededRandom",
            ]),
        tests(
            "NotifierTests",
            [
                "TestSupport", "TestPeers", "Curl", "NotifierDomain", "NotifierService", "EventSchema", "Crypto", "JSON",
                "EventLog",
                "EventLogSimulated",
                "LoopService", "Postgres", "Projections", "Runtime", "Sealing",
            ]),
        tests(
            "GatewayTests",
            [
                "TestSupport", "GatewayService", "EventLogPostgres", "Identifiers", "LoopService", "EventSchema", "Crypto",
                "JSON", "EventLog", "HTTP", "Postgres", "Runtime", "Sealing", "SeededRandom",
            ]),
        tests(
            "LoopServiceTests",
            [
                "TestSupport", "LoopService", "Projections", "EventLog", "EventLogSimulated", "EventSchema", "Crypto", "Postgres",
                "Runtime",
            ]),
        tests("KafkaTests", ["EventLog", "EventLogKafka", "EventSchema", "Crypto", "Runtime"]),
        tests("SystemTests", ["HTTP", "JSON", "Runtime", "TestPeers"], resources: [.copy("Guide")]),
    ]
)

// `LATCHKEY_TESTS` names the only test targets to build, separated by commas. `optimised` stands for those that `compose/test`
// runs optimised, beside the executables as they are shipped.
if let wanted = Context.environment["LATCHKEY_TESTS"], !wanted.isEmpty {
    let optimised = ["KafkaTests", "LogContractTests", "SimulationTests", "SystemTests"]
    let kept = wanted == "optimised" ? optimised : wanted.split(separator: ",").map { String($0) }
    package.targets.removeAll { $0.type == .test && !kept.contains($0.name) }
}

// What `compose/bench` measures with: a load generator, and programs that do as little as possible.
if Context.environment["LATCHKEY_BENCHMARKS"] != nil {
    let folder = "Tests/Benchmarks"
    package.targets += [
        .executableTarget(name: "load", path: "\(folder)/Load", swiftSettings: strict),
        .executableTarget(
            name: "history",
            dependencies: [
                "Crypto", "EventLog", "EventSchema", "IdentityService", "LogBackends", "LoopService",
                "Postgres", "Runtime", "SeededRandom",
            ], path: "\(folder)/History", swiftSettings: strict, linkerSettings: allocator),
        .target(name: "CMeasurement", path: "\(folder)/Limits/Support"),
        .executableTarget(
            name: "limit-server", path: "\(folder)/Limits/Server", linkerSettings: [.linkedLibrary("microhttpd")]),
        .executableTarget(
            name: "limit-kafka", dependencies: ["CMeasurement"], path: "\(folder)/Limits/Kafka",
            linkerSettings: [.linkedLibrary("rdkafka")]),
        .executableTarget(
            name: "limit-argon2", dependencies: ["CLentMemory", "CMeasurement", "CSodium"], path: "\(folder)/Limits/Argon2"),
        .executableTarget(
            name: "limit-postgres", dependencies: ["CMeasurement", "CPostgres"], path: "\(folder)/Limits/Postgres"),
    ]
}
