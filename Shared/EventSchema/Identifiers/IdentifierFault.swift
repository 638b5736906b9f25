/// What is wrong with an address or number that somebody entered. The message is one for people; it never quotes the input.
public enum IdentifierFault: Error, Hashable, Sendable {
    case empty
    /// Longer than an address can be.
    case tooLong
    case localPartTooLong
    /// Spaces inside, control characters, and what cannot be seen or is not assigned in Unicode.
    case forbiddenCharacter
    case notOneAtSign
    case localPart
    case quotedLocalPart
    case domainWithoutDot
    case domain
    case phoneNumber

    /// For the field's error in an answer.
    public var message: String {
        switch self {
        case .empty: "Must not be empty."
        case .tooLong: "Must be at most 254 bytes long."
        case .localPartTooLong: "The part before the @ must be at most 64 bytes long."
        case .forbiddenCharacter: "Must not contain spaces, control or invisible characters."
        case .notOneAtSign: "Must contain exactly one @."
        case .localPart: "The part before the @ is not valid."
        case .quotedLocalPart: "Quoted addresses are not supported."
        case .domainWithoutDot: "The part after the @ must be a domain with a dot."
        case .domain: "The part after the @ is not a valid domain."
        case .phoneNumber: "Must be a valid phone number, with its country code."
        }
    }
}
