extension Request {
    /// The address that limits count: the peer, or, where the peer is one of the trusted proxies, the right-most entry of
    /// `X-Forwarded-For` that is not. Several lines are joined in order. A malformed entry ends the walk at the last good
    /// address. IPv4-mapped IPv6 counts as IPv4; for other IPv6 take `network` of the result.
    public func clientAddress(trusting proxies: [AddressBlock]) -> IPAddress {
        var address = peer
        guard !proxies.isEmpty else { return address }
        for line in headers.values("X-Forwarded-For").reversed() {
            for entry in line.utf8.split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false).reversed() {
                guard proxies.contains(where: { $0.contains(address) }) else { return address }
                guard let next = forwardedAddress(trimmed(entry)) else { return address }
                address = next
            }
        }
        return address
    }
}

/// One entry as proxies write them: an address, an IPv4 address with a port, or a bracketed IPv6 address with or without.
private func forwardedAddress(_ text: String) -> IPAddress? {
    let bytes = text.utf8
    func isPort(_ digits: Substring.UTF8View) -> Bool {
        (1...5).contains(digits.count) && digits.allSatisfy { $0 &- 0x30 < 10 }
            && Int(Substring(digits)).map { $0 < 65536 } == true
    }
    if bytes.first == UInt8(ascii: "[") {
        guard let end = bytes.firstIndex(of: UInt8(ascii: "]")) else { return nil }
        let inside = String(Substring(bytes[bytes.index(after: bytes.startIndex)..<end]))
        let rest = bytes[bytes.index(after: end)...]
        guard inside.utf8.contains(UInt8(ascii: ":")) else { return nil }
        guard rest.isEmpty || (rest.first == UInt8(ascii: ":") && isPort(rest.dropFirst())) else { return nil }
        return IPAddress(inside)
    }
    let colons = bytes.count { $0 == UInt8(ascii: ":") }
    if colons == 1, let colon = bytes.firstIndex(of: UInt8(ascii: ":")) {
        guard isPort(bytes[bytes.index(after: colon)...]) else { return nil }
        return IPAddress(String(Substring(bytes[..<colon])))
    }
    return IPAddress(text)
}
