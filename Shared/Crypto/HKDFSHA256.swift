import CSodium

/// HKDF with SHA-256 (RFC 5869): keys for different purposes from one secret.
public enum HKDFSHA256 {
    /// - Parameters:
    ///   - salt: not secret; empty stands for 32 zero bytes, as the RFC says.
    ///   - info: the purpose. Keys of different purposes tell nothing of each other.
    ///   - count: bytes of the derived key, at most 8,160.
    public static func derive(secret: [UInt8], salt: [UInt8] = [], info: [UInt8], count: Int) -> [UInt8] {
        secret.withUnsafeBytes { expand(extract($0, salt: salt), info: info, count: count) }.withBytes { Array($0) }
    }

    /// The same, from and to bytes that are wiped after use.
    public static func derive(secret: Secret, salt: [UInt8] = [], info: [UInt8], count: Int) -> Secret {
        expand(secret.withBytes { extract($0, salt: salt) }, info: info, count: count)
    }

    private static func extract(_ secret: UnsafeRawBufferPointer, salt: [UInt8]) -> HMACSHA256 {
        var material = Array(secret)
        defer { wipe(&material) }
        return HMACSHA256(key: Secret(HMACSHA256(key: salt).code(for: material)))
    }

    private static func expand(_ key: HMACSHA256, info: [UInt8], count: Int) -> Secret {
        precondition((0...255 * HMACSHA256.count).contains(count), "HKDF-SHA256 gives at most 8,160 bytes")
        return Secret(count: count) { output in
            var block: [UInt8] = []
            var filled = 0
            var counter: UInt8 = 1
            while filled < count {
                var input = block + info + [counter]
                block = key.code(for: input)
                wipe(&input)
                let part = min(block.count, count - filled)
                UnsafeMutableRawBufferPointer(rebasing: output[filled...]).copyBytes(from: block.prefix(part))
                filled += part
                counter &+= 1
            }
            wipe(&block)
        }
    }

    private static func wipe(_ bytes: inout [UInt8]) {
        bytes.withUnsafeMutableBytes { if let start = $0.baseAddress { sodium_memzero(start, $0.count) } }
    }
}
