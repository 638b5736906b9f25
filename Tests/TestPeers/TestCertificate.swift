import Foundation

/// A certificate for this machine that nobody else has signed, in a folder of its own.
public final class TestCertificate: Sendable {
    public struct Failure: Error {
        var output: String
    }

    private let folder: String
    public var certificate: String { "\(folder)/certificate.pem" }
    public var key: String { "\(folder)/key.pem" }

    /// - Parameter names: what it is for, as OpenSSL writes it.
    public init(for names: String = "DNS:localhost,IP:127.0.0.1") throws {
        folder = NSTemporaryDirectory() + "latchkey-certificate-" + UUID().uuidString.lowercased()
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        let process = Process()
        let output = Pipe()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/openssl")
        process.arguments = [
            "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2",
            "-subj", "/CN=latchkey test", "-addext", "subjectAltName=\(names)", "-keyout", "\(folder)/key.pem",
            "-out", "\(folder)/certificate.pem",
        ]
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = output
        process.standardError = output
        try process.run()
        let text = output.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else { throw Failure(output: String(decoding: text, as: UTF8.self)) }
    }

    deinit { try? FileManager.default.removeItem(atPath: folder) }
}
