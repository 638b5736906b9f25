import CListedPasswords
import Identifiers

/// What the contract asks of a new password. Each rule that is missed has its message.
enum PasswordRule: CaseIterable {
    case long, notTooLong, upperCase, lowerCase, digit, notCommon, notTheAddress

    static let minimumCount = 8
    static let maximumBytes = 1_024

    var message: String {
        switch self {
        case .long: "Must be at least \(Self.minimumCount) characters long."
        case .notTooLong: "Must be at most \(Self.maximumBytes) bytes long."
        case .upperCase: "Must contain an upper-case letter."
        case .lowerCase: "Must contain a lower-case letter."
        case .digit: "Must contain a digit."
        case .notCommon: "Is too common."
        case .notTheAddress: "Must not be the e-mail address."
        }
    }

    /// The rules that a password misses.
    ///
    /// - Parameters:
    ///   - password: in NFC.
    ///   - email: the canonical address of the same request.
    static func missed(by password: String, email: String?) -> [PasswordRule] {
        allCases.filter { !$0.isKept(by: password, email: email) }
    }

    private func isKept(by password: String, email: String?) -> Bool {
        let scalars = password.unicodeScalars
        func holds(_ category: Unicode.GeneralCategory) -> Bool {
            scalars.contains { $0.properties.generalCategory == category }
        }
        return switch self {
        case .long: scalars.count >= Self.minimumCount
        case .notTooLong: password.utf8.count <= Self.maximumBytes
        case .upperCase: holds(.uppercaseLetter)
        case .lowerCase: holds(.lowercaseLetter)
        case .digit: holds(.decimalNumber)
        case .notCommon: !Self.common.contains(Array(password.lowercased().utf8))
        case .notTheAddress: email == nil || (try? EmailAddress(password).text) != email
        }
    }

    /// By bytes, as the list is ASCII.
    private static let common: Set<[UInt8]> = {
        var count = 0
        let list = UnsafeRawBufferPointer(start: latchkey_listed_passwords(&count), count: count)
        return Set(list.split(separator: UInt8(ascii: "\n")).map { Array($0) })
    }()
}

extension FieldReader {
    /// A password that somebody has: any text, for a wrong one is found out later. In NFC, as UTF-8.
    mutating func password(_ name: String) -> [UInt8]? { string(name).map { Array($0.nfc.utf8) } }

    /// A password that somebody wants, in NFC, as UTF-8. Each rule that it misses is a fault of its own.
    ///
    /// - Parameter email: the canonical address of the same request.
    mutating func newPassword(_ name: String, email: String? = nil) -> [UInt8]? {
        guard let password = string(name)?.nfc else { return nil }
        let missed = PasswordRule.missed(by: password, email: email)
        for rule in missed { refuse(name, rule.message) }
        return missed.isEmpty ? Array(password.utf8) : nil
    }
}
