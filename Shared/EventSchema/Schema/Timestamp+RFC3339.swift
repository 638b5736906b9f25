extension Timestamp {
    /// 0000-01-01T00:00:00.000Z and 9999-12-31T23:59:59.999Z: what RFC 3339 can write.
    static let writable = Timestamp(milliseconds: -62_167_219_200_000)...Timestamp(milliseconds: 253_402_300_799_999)

    /// RFC 3339 in UTC with milliseconds, 24 characters: `2024-02-29T12:00:00.000Z`. An instant before the year 0 or after 9999
    /// is written as the nearest one inside.
    public var rfc3339: String {
        let instant = min(max(self, Self.writable.lowerBound), Self.writable.upperBound).milliseconds
        let day = instant >= 0 ? instant / 86_400_000 : (instant - 86_399_999) / 86_400_000
        let time = Int(instant - day * 86_400_000)
        let date = CivilDate(daysSinceEpoch: Int(day))
        return String(unsafeUninitializedCapacity: 24) { buffer in
            var position = 0
            func put(_ number: Int, digits: Int, then separator: UInt8) {
                var rest = number
                for index in stride(from: position + digits - 1, through: position, by: -1) {
                    buffer[index] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10)
                    rest /= 10
                }
                buffer[position + digits] = separator
                position += digits + 1
            }
            put(date.year, digits: 4, then: UInt8(ascii: "-"))
            put(date.month, digits: 2, then: UInt8(ascii: "-"))
            put(date.day, digits: 2, then: UInt8(ascii: "T"))
            put(time / 3_600_000, digits: 2, then: UInt8(ascii: ":"))
            put(time / 60_000 % 60, digits: 2, then: UInt8(ascii: ":"))
            put(time / 1_000 % 60, digits: 2, then: UInt8(ascii: "."))
            put(time % 1_000, digits: 3, then: UInt8(ascii: "Z"))
            return position
        }
    }

    /// Reads exactly the form that `rfc3339` writes, so that what is read and written again is the same text. `nil` for other
    /// forms, and for days, hours, minutes and seconds that do not exist (leap seconds among them: the log's clock has none).
    public init?(rfc3339 text: String) {
        var text = text
        guard let time = text.withUTF8({ Timestamp(rfc3339: $0) }) else { return nil }
        self = time
    }

    /// The same for the bytes of the text.
    public init?(rfc3339 text: some Collection<UInt8>) {
        let form: StaticString = "0000-00-00T00:00:00.000Z"
        guard text.count == form.utf8CodeUnitCount else { return nil }
        var numbers = (0, 0, 0, 0, 0, 0, 0)
        var field = 0
        var value = 0
        var index = 0
        for byte in text {
            let expected = form.utf8Start[index]
            index += 1
            if expected == UInt8(ascii: "0") {
                guard byte >= UInt8(ascii: "0"), byte <= UInt8(ascii: "9") else { return nil }
                value = value * 10 + Int(byte - UInt8(ascii: "0"))
                continue
            }
            guard byte == expected else { return nil }
            switch field {
            case 0: numbers.0 = value
            case 1: numbers.1 = value
            case 2: numbers.2 = value
            case 3: numbers.3 = value
            case 4: numbers.4 = value
            case 5: numbers.5 = value
            default: numbers.6 = value
            }
            field += 1
            value = 0
        }
        let (year, month, day, hour, minute, second, millisecond) = numbers
        guard let date = CivilDate(year: year, month: month, day: day), hour < 24, minute < 60, second < 60 else { return nil }
        let seconds = Int64(date.daysSinceEpoch) * 86_400 + Int64(hour * 3_600 + minute * 60 + second)
        self.init(milliseconds: seconds * 1_000 + Int64(millisecond))
    }
}
