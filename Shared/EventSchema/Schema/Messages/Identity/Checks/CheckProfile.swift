public import Crypto
public import JSON

/// Asks a check worker to merge changes into a profile.
public struct CheckProfile: Message {
    public static let type = MessageType.checkProfile

    public var target: ProfileTarget
    /// A JSON object, sealed to Identity: `null` removes a field.
    public var patch: Box

    public init(target: ProfileTarget, patch: Box) {
        self.target = target
        self.patch = patch
    }

    public init(fields: Fields) throws(SchemaError) {
        target = try fields.object("target", ProfileTarget.init(fields:))
        patch = try fields.value("patch") { Box(encoded: $0) }
    }

    public var json: JSON {
        [
            "target": target.json,
            "patch": .string(patch.encoded),
        ]
    }
}
