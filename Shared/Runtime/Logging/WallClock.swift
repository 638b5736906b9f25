import Glibc

/// The machine's clock of day. Only logs, metrics and reports read it: what decides anything uses the log's time.
public enum WallClock {
    /// Milliseconds since 1970-01-01T00:00:00Z.
    public static func now() -> Int64 {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Int64(time.tv_sec) * 1_000 + Int64(time.tv_nsec) / 1_000_000
    }

    /// RFC 3339 in UTC with milliseconds: `2026-02-28T23:59:59.999Z`.
    public static func rfc3339(_ milliseconds: Int64) -> String {
        var bytes: [UInt8] = []
        append(rfc3339: milliseconds, to: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }

    static func append(rfc3339 milliseconds: Int64, to bytes: inout [UInt8]) {
        let (seconds, fraction) = milliseconds.flooredDivision(by: 1_000)
        let (days, second) = seconds.flooredDivision(by: 86_400)
        // Days since 1970-01-01 to a date of the proleptic Gregorian calendar, with years that begin in March.
        let (era, dayOfEra) = (days + 719_468).flooredDivision(by: 146_097)
        let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shifted = (5 * dayOfYear + 2) / 153
        let day = dayOfYear - (153 * shifted + 2) / 5 + 1
        let month = shifted < 10 ? shifted + 3 : shifted - 9
        let year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
        for (number, width, end) in [
            (year, 4, "-"), (month, 2, "-"), (day, 2, "T"), (second / 3_600, 2, ":"), (second / 60 % 60, 2, ":"),
            (second % 60, 2, "."), (fraction, 3, "Z"),
        ] as [(Int64, Int, Unicode.Scalar)] {
            bytes.append(decimal: number, width: width)
            bytes.append(UInt8(ascii: end))
        }
    }
}

extension [UInt8] {
    /// In decimal, with zeros in front up to the width.
    mutating func append(decimal number: Int64, width: Int = 1) {
        if number < 0 { append(UInt8(ascii: "-")) }
        let start = count
        var rest = number.magnitude
        while rest > 0 || count - start < width {
            append(UInt8(ascii: "0") + UInt8(rest % 10))
            rest /= 10
        }
        self[start...].reverse()
    }
}

extension Int64 {
    fileprivate func flooredDivision(by divisor: Int64) -> (quotient: Int64, remainder: Int64) {
        var (quotient, remainder) = quotientAndRemainder(dividingBy: divisor)
        if remainder < 0 {
            quotient -= 1
            remainder += divisor
        }
        return (quotient, remainder)
    }
}
