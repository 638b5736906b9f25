import COpenSSL

/// PBKDF2 with HMAC (RFC 8018, section 5.2), to check hashes that other systems made.
enum PBKDF2 {
    enum Function: String, Hashable {
        case sha1, sha256, sha512

        var method: OpaquePointer {
            switch self {
            case .sha1: EVP_sha1()
            case .sha256: EVP_sha256()
            case .sha512: EVP_sha512()
            }
        }
    }

    struct Parameters: Hashable {
        var function: Function
        var iterations: UInt32
    }

    /// About ten times what is recommended for SHA-256.
    private static let mostIterations: UInt32 = 6_000_000

    static func hash(_ password: [UInt8], salt: [UInt8], _ parameters: Parameters, count: Int) -> [UInt8]? {
        var isDone = false
        let hash = [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
            password.withUnsafeBytes { password in
                withUnsafeTemporaryAllocation(of: CChar.self, capacity: 1) { nothing in
                    let start = password.assumingMemoryBound(to: CChar.self).baseAddress ?? UnsafePointer(nothing.baseAddress!)
                    isDone =
                        PKCS5_PBKDF2_HMAC(
                            start, Int32(password.count), salt, Int32(salt.count), Int32(parameters.iterations),
                            parameters.function.method, Int32(count), buffer.baseAddress!) == 1
                }
            }
            initialized = isDone ? count : 0
        }
        return isDone ? hash : nil
    }

    static func read(_ text: String) -> PasswordHash? { phc(text) ?? passlib(text) ?? django(text) ?? werkzeug(text) }

    private static func phc(_ text: String) -> PasswordHash? {
        guard let phc = PHCString(text), phc.version == nil, let function = function(inPHC: phc.scheme) else { return nil }
        if let numbers = phc.numbers("i", "l") {
            guard Int(numbers[1]) == phc.hash.count else { return nil }
            return checked(text, function, numbers[0], salt: phc.salt, hash: phc.hash)
        }
        return phc.numbers("i").flatMap { checked(text, function, $0[0], salt: phc.salt, hash: phc.hash) }
    }

    private static func function(inPHC scheme: Substring) -> Function? {
        if scheme == "pbkdf2" { return .sha1 }
        return scheme.hasPrefix("pbkdf2-") ? Function(rawValue: String(scheme.dropFirst(7))) : nil
    }

    /// Its Base64 has a dot where others have a plus.
    private static func passlib(_ text: String) -> PasswordHash? {
        let fields = text.split(separator: "$", omittingEmptySubsequences: false)
        guard fields.count == 5, fields[0].isEmpty, let function = function(inPHC: fields[1]),
            let iterations = DecimalNumber.read(fields[2])
        else { return nil }
        func decode(_ field: Substring) -> [UInt8]? {
            field.contains("+") ? nil : PlainBase64.decode(String(field.map { $0 == "." ? "+" : $0 }))
        }
        guard let salt = decode(fields[3]), let hash = decode(fields[4]) else { return nil }
        return checked(text, function, iterations, salt: salt, hash: hash)
    }

    private static func django(_ text: String) -> PasswordHash? {
        let fields = text.split(separator: "$", omittingEmptySubsequences: false)
        guard fields.count == 4, fields[0].hasPrefix("pbkdf2_"),
            let function = Function(rawValue: String(fields[0].dropFirst(7))),
            let iterations = DecimalNumber.read(fields[1]), let hash = PlainBase64.decodePadded(fields[3])
        else { return nil }
        return checked(text, function, iterations, salt: Array(fields[2].utf8), hash: hash)
    }

    private static func werkzeug(_ text: String) -> PasswordHash? {
        let fields = text.split(separator: "$", omittingEmptySubsequences: false)
        guard fields.count == 3 else { return nil }
        let method = fields[0].split(separator: ":", omittingEmptySubsequences: false)
        guard method.count == 3, method[0] == "pbkdf2", let function = Function(rawValue: String(method[1])),
            let iterations = DecimalNumber.read(method[2]), let hash = Hex.decode(String(fields[2]))
        else { return nil }
        return checked(text, function, iterations, salt: Array(fields[1].utf8), hash: hash)
    }

    private static func checked(
        _ text: String, _ function: Function, _ iterations: UInt32, salt: [UInt8], hash: [UInt8]
    ) -> PasswordHash? {
        guard (1...mostIterations).contains(iterations), (1...64).contains(salt.count), (16...64).contains(hash.count) else {
            return nil
        }
        return PasswordHash(
            text: text, scheme: .pbkdf2(Parameters(function: function, iterations: iterations)), salt: salt, hash: hash)
    }
}
