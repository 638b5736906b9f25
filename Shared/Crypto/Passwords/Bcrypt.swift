import CCrypt
import CSodium

/// bcrypt, by way of the distribution's libcrypt. Only to check hashes that other systems made: it sees the first 72 bytes of a
/// password alone, so whoever signs in with such a hash gets a better one at once.
enum Bcrypt {
    /// A cost of 16 takes several seconds.
    private static let costs: ClosedRange<UInt32> = 4...16
    /// Scheme, cost and salt come first.
    private static let saltEnd = 29

    static func read(_ text: String) -> PasswordHash? {
        let bytes = Array(text.utf8)
        guard bytes.count == 60, ["$2a$", "$2b$", "$2y$"].contains(where: { text.hasPrefix($0) }), bytes[6] == UInt8(ascii: "$"),
            bytes[4..<6].allSatisfy({ (48...57).contains($0) }),
            costs.contains(UInt32(bytes[4] - 48) * 10 + UInt32(bytes[5] - 48)),
            bytes[7...].allSatisfy(isInAlphabet)
        else { return nil }
        return PasswordHash(text: text, scheme: .bcrypt, salt: [], hash: Array(bytes[saltEnd...]))
    }

    private static func isInAlphabet(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"): true
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "/"): true
        default: false
        }
    }

    /// What stands behind the salt of this setting when the password is hashed with it.
    static func hash(_ password: [UInt8], setting: String) throws(CryptoError) -> [UInt8] {
        // A C text ends at its first NUL. No system can have accepted such a password, but the work is the same.
        let hasNUL = password.contains(0)
        let phrase = password.filter { $0 != 0 }.map { CChar(bitPattern: $0) } + [0]
        let size = MemoryLayout<crypt_data>.size
        let data = UnsafeMutableRawPointer.allocate(byteCount: size, alignment: 16)
        data.initializeMemory(as: UInt8.self, repeating: 0, count: size)
        defer {
            // What stands there helps to try passwords faster.
            sodium_memzero(data, size)
            data.deallocate()
        }
        guard let result = crypt_rn(phrase, setting, data, Int32(size)) else { throw .outOfMemory }
        let hash = Array(String(cString: result).utf8.dropFirst(saltEnd))
        return hasNUL ? [] : hash
    }
}
