import CArgon2
import CSodium

/// Argon2 (RFC 9106): what makes a guess at a password expensive.
enum Argon2 {
    enum Variant: String, Hashable {
        case d = "argon2d"
        case i = "argon2i"
        case id = "argon2id"
    }

    struct Parameters: Hashable {
        var variant: Variant = .id
        /// 0x13 as in the RFC, or 0x10 of before it.
        var version: UInt32 = 0x13
        /// KiB.
        var memory: UInt32
        var passes: UInt32
        var lanes: UInt32 = 1

        /// Bytes: a multiple of four blocks of 1 KiB for each lane (RFC 9106, section 3.2).
        var usedMemory: Int { Int(memory / (4 * lanes) * (4 * lanes)) * 1_024 }
    }

    /// One thread does all lanes. `nil` for parameters that are out of the RFC's ranges, and when there is no memory.
    static func hash(
        _ password: [UInt8], salt: [UInt8], _ parameters: Parameters, count: Int, secret: [UInt8] = [], associated: [UInt8] = []
    ) -> [UInt8]? {
        // libsodium's is faster, and knows what is written today.
        if parameters.variant == .id, parameters.version == 0x13, parameters.lanes == 1, secret.isEmpty, associated.isEmpty,
            salt.count == Int(crypto_pwhash_SALTBYTES), count >= Int(crypto_pwhash_BYTES_MIN), parameters.memory >= 8
        {
            return withSodium(password, salt: salt, parameters, count: count)
        }
        return withReference(password, salt: salt, parameters, count: count, secret: secret, associated: associated)
    }

    private static func withSodium(_ password: [UInt8], salt: [UInt8], _ parameters: Parameters, count: Int) -> [UInt8]? {
        Sodium.start()
        var isDone = false
        let hash = [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
            password.withUnsafeBytes { password in
                withUnsafeTemporaryAllocation(of: CChar.self, capacity: 1) { nothing in
                    let start = password.assumingMemoryBound(to: CChar.self).baseAddress ?? UnsafePointer(nothing.baseAddress!)
                    isDone = HashMemory.shared.lend(parameters.usedMemory) {
                        crypto_pwhash_argon2id(
                            buffer.baseAddress!, UInt64(count), start, UInt64(password.count), salt, UInt64(parameters.passes),
                            Int(parameters.memory) * 1_024, crypto_pwhash_alg_argon2id13()) == 0
                    }
                }
            }
            initialized = isDone ? count : 0
        }
        return isDone ? hash : nil
    }

    static func withReference(
        _ password: [UInt8], salt: [UInt8], _ parameters: Parameters, count: Int, secret: [UInt8], associated: [UInt8]
    ) -> [UInt8]? {
        // The library's structure asks for mutable bytes, and leaves them alone unless a flag says otherwise.
        var (password, salt, secret, associated) = (password, salt, secret, associated)
        let variant =
            switch parameters.variant {
            case .d: Argon2_d
            case .i: Argon2_i
            case .id: Argon2_id
            }
        var isDone = false
        let hash = [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
            password.withUnsafeMutableBufferPointer { password in
                salt.withUnsafeMutableBufferPointer { salt in
                    secret.withUnsafeMutableBufferPointer { secret in
                        associated.withUnsafeMutableBufferPointer { associated in
                            var context = argon2_context()
                            context.out = buffer.baseAddress
                            context.outlen = UInt32(count)
                            (context.pwd, context.pwdlen) = lent(password)
                            (context.salt, context.saltlen) = lent(salt)
                            (context.secret, context.secretlen) = lent(secret)
                            (context.ad, context.adlen) = lent(associated)
                            context.t_cost = parameters.passes
                            context.m_cost = parameters.memory
                            context.lanes = parameters.lanes
                            context.threads = 1
                            context.version = parameters.version
                            context.flags = 0
                            isDone = argon2_ctx(&context, variant) == Int32(ARGON2_OK.rawValue)
                        }
                    }
                }
            }
            initialized = isDone ? count : 0
        }
        return isDone ? hash : nil
    }

    private static func lent(_ bytes: UnsafeMutableBufferPointer<UInt8>) -> (UnsafeMutablePointer<UInt8>?, UInt32) {
        (bytes.isEmpty ? nil : bytes.baseAddress, UInt32(bytes.count))
    }
}

/// What a new password hash costs: argon2id with one lane.
public struct Argon2Settings: Hashable, Sendable {
    /// 8 or more KiB.
    public var memory: UInt32
    public var passes: UInt32

    /// The default is the first choice of the OWASP cheat sheet on storing passwords: 19 MiB and two passes.
    public init(memory: UInt32 = 19_456, passes: UInt32 = 2) {
        precondition(memory >= 8 && passes >= 1, "argon2 needs 8 KiB and a pass")
        self.memory = memory
        self.passes = passes
    }
}
