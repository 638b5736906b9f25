public import Crypto
import JSON

/// A message to the owner of an address about what somebody did there, for the Notifier to send.
public struct Notice: Hashable, Sendable {
    /// The canonical address, sealed to the Notifier.
    public var recipient: Box
    /// The language of the message; `nil` for the default.
    public var locale: LanguageTag?

    public init(recipient: Box, locale: LanguageTag? = nil) {
        self.recipient = recipient
        self.locale = locale
    }

    init(fields: Fields) throws(SchemaError) {
        recipient = try fields.value("recipient") { Box(encoded: $0) }
        locale = try fields.optional("locale") { LanguageTag($0) }
    }

    var json: JSON {
        [
            "recipient": .string(recipient.encoded),
            "locale": .text(locale?.text),
        ]
    }
}
