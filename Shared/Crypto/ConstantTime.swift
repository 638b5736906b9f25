import CSodium

/// Compares secrets in a time that depends on their length alone, which is not a secret.
public func constantTimeEquals(_ left: [UInt8], _ right: [UInt8]) -> Bool {
    Sodium.start()
    return left.count == right.count && sodium_memcmp(left, right, left.count) == 0
}
