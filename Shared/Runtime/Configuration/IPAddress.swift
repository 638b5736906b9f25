import Glibc

/// Checks of addresses in settings; the system's own parser decides.
enum IPAddress {
    static func isValid(_ text: String) -> Bool { isValidV4(text) || isValidV6(text) }

    static func isValidV4(_ text: String) -> Bool {
        var address = in_addr()
        return inet_pton(AF_INET, text, &address) == 1
    }

    static func isValidV6(_ text: String) -> Bool {
        var address = in6_addr()
        return inet_pton(AF_INET6, text, &address) == 1
    }

    /// An address, or an address with the length of a prefix.
    static func isValidNetwork(_ text: String) -> Bool {
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        let address = String(parts[0])
        guard isValid(address) else { return false }
        guard parts.count > 1 else { return true }
        guard parts.count == 2, let length = DecimalText.number(parts[1]) else { return false }
        return length <= (isValidV4(address) ? 32 : 128)
    }
}
