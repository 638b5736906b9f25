extension Argon2 {
    /// 256 MiB.
    private static let mostMemory: UInt32 = 1 << 18
    private static let mostLanes: UInt32 = 64
    /// KiB times passes: several seconds on a slow machine.
    private static let mostWork: UInt64 = 1 << 21

    static func text(_ parameters: Parameters, salt: [UInt8], hash: [UInt8]) -> String {
        "$\(parameters.variant.rawValue)$v=\(parameters.version)$m=\(parameters.memory),t=\(parameters.passes),"
            + "p=\(parameters.lanes)$\(PlainBase64.encode(salt))$\(PlainBase64.encode(hash))"
    }

    /// The PHC form. A hash of before there were versions has none.
    static func read(_ text: String) -> PasswordHash? {
        guard let phc = PHCString(text), let variant = Variant(rawValue: String(phc.scheme)),
            let numbers = phc.numbers("m", "t", "p")
        else { return nil }
        let version: UInt32
        switch phc.version {
        case nil, "16": version = 0x10
        case "19": version = 0x13
        default: return nil
        }
        let (memory, passes, lanes) = (numbers[0], numbers[1], numbers[2])
        guard (1...mostLanes).contains(lanes), (8 * lanes...mostMemory).contains(memory), passes >= 1,
            UInt64(memory) * UInt64(passes) <= mostWork, (8...64).contains(phc.salt.count), (16...64).contains(phc.hash.count)
        else { return nil }
        let parameters = Parameters(variant: variant, version: version, memory: memory, passes: passes, lanes: lanes)
        return PasswordHash(text: text, scheme: .argon2(parameters), salt: phc.salt, hash: phc.hash)
    }
}
