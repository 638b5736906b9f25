import Crypto
import EventSchema

extension Ciphertext {
    /// Not one that opens.
    static func example(_ text: String = "") -> Ciphertext {
        Ciphertext(bytes: Random.bytes(24) + Array(text.utf8) + Random.bytes(16))!
    }
}

extension PersonalData {
    static func example(key: DataKeyID = DataKeyID(of: .random())) -> PersonalData {
        PersonalData(
            dataKey: key, identifier: .example("identifier"), passwordHash: .example("hash"), profile: .example("profile"))
    }
}

extension Box {
    /// Not one that opens.
    static func example() -> Box {
        Box(encoded: "1.nobody.\(Base64URL.encode(Random.bytes(80)))")!
    }
}
