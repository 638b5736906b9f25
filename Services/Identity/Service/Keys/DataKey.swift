internal import Crypto
public import EventSchema

/// The key that one person's data is encrypted under.
public struct DataKey: Sendable {
    public let id: DataKeyID
    private let key: SymmetricKey

    init(id: DataKeyID, key: SymmetricKey) {
        self.id = id
        self.key = key
    }

    /// Encrypted for this field alone: what is moved to another field or under another key does not open.
    public func seal(_ plaintext: [UInt8], as field: PersonalField) -> Ciphertext {
        guard let sealed = Ciphertext(bytes: key.seal(plaintext, context: SealingContext.personal(field, key: id))) else {
            preconditionFailure("a ciphertext has a nonce and a tag")
        }
        return sealed
    }

    /// `nil` for what was encrypted under another key, for another field, or was changed.
    public func open(_ ciphertext: Ciphertext, as field: PersonalField) -> [UInt8]? {
        key.open(ciphertext.bytes, context: SealingContext.personal(field, key: id))
    }
}
