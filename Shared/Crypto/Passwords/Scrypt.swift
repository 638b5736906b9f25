import COpenSSL

/// scrypt (RFC 7914), to check hashes that other systems made.
enum Scrypt {
    struct Parameters: Hashable {
        /// CPU and memory cost, a power of two.
        var n: UInt64
        var blockSize: UInt32
        var lanes: UInt32
    }

    /// 256 MiB: a block has 128 bytes times its size.
    private static let mostMemory: UInt64 = 1 << 28
    private static let mostLanes: UInt32 = 16

    static func hash(_ password: [UInt8], salt: [UInt8], _ parameters: Parameters, count: Int) -> [UInt8]? {
        var isDone = false
        let hash = [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
            password.withUnsafeBytes { password in
                withUnsafeTemporaryAllocation(of: CChar.self, capacity: 1) { nothing in
                    let start = password.assumingMemoryBound(to: CChar.self).baseAddress ?? UnsafePointer(nothing.baseAddress!)
                    // Twice the bound: OpenSSL counts what it needs beside the big array too.
                    isDone =
                        EVP_PBE_scrypt(
                            start, password.count, salt, salt.count, parameters.n, UInt64(parameters.blockSize),
                            UInt64(parameters.lanes), 2 * mostMemory, buffer.baseAddress!, count) == 1
                }
            }
            initialized = isDone ? count : 0
        }
        return isDone ? hash : nil
    }

    static func read(_ text: String) -> PasswordHash? { phc(text) ?? werkzeug(text) }

    private static func phc(_ text: String) -> PasswordHash? {
        guard let phc = PHCString(text), phc.scheme == "scrypt", phc.version == nil, let numbers = phc.numbers("ln", "r", "p"),
            numbers[0] < 32
        else { return nil }
        return checked(text, n: 1 << UInt64(numbers[0]), numbers[1], numbers[2], salt: phc.salt, hash: phc.hash)
    }

    private static func werkzeug(_ text: String) -> PasswordHash? {
        let fields = text.split(separator: "$", omittingEmptySubsequences: false)
        guard fields.count == 3 else { return nil }
        let method = fields[0].split(separator: ":", omittingEmptySubsequences: false)
        guard method.count == 4, method[0] == "scrypt", let n = DecimalNumber.read(method[1]),
            let blockSize = DecimalNumber.read(method[2]), let lanes = DecimalNumber.read(method[3]),
            let hash = Hex.decode(String(fields[2]))
        else { return nil }
        return checked(text, n: UInt64(n), blockSize, lanes, salt: Array(fields[1].utf8), hash: hash)
    }

    private static func checked(
        _ text: String, n: UInt64, _ blockSize: UInt32, _ lanes: UInt32, salt: [UInt8], hash: [UInt8]
    ) -> PasswordHash? {
        guard n >= 2, n & (n - 1) == 0, n <= mostMemory, (1...64).contains(blockSize), (1...mostLanes).contains(lanes),
            128 * n * UInt64(blockSize) <= mostMemory, (1...64).contains(salt.count), (16...64).contains(hash.count)
        else { return nil }
        let parameters = Parameters(n: n, blockSize: blockSize, lanes: lanes)
        return PasswordHash(text: text, scheme: .scrypt(parameters), salt: salt, hash: hash)
    }
}
