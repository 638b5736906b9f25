/// A day of the proleptic Gregorian calendar.
///
/// The arithmetic counts years from March, so that the leap day is the last of its year, in eras of 400 years (146,097 days).
struct CivilDate: Hashable, Sendable {
    let year: Int
    let month: Int
    let day: Int

    private static let daysPerEra = 146_097
    /// From 0000-03-01 to 1970-01-01.
    private static let daysBeforeEpoch = 719_468

    /// `nil` where there is no such day.
    init?(year: Int, month: Int, day: Int) {
        guard 1...12 ~= month, 1...Self.days(in: month, of: year) ~= day else { return nil }
        (self.year, self.month, self.day) = (year, month, day)
    }

    init(daysSinceEpoch: Int) {
        let days = daysSinceEpoch + Self.daysBeforeEpoch
        let era = (days >= 0 ? days : days - (Self.daysPerEra - 1)) / Self.daysPerEra
        let dayOfEra = days - era * Self.daysPerEra
        // Take out the leap days (every 1,461 days, not every 36,524, but every 146,096), then years have 365 days.
        let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        // From March on, five months have 153 days.
        let monthFromMarch = (5 * dayOfYear + 2) / 153
        day = dayOfYear - (153 * monthFromMarch + 2) / 5 + 1
        month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
        year = era * 400 + yearOfEra + (month <= 2 ? 1 : 0)
    }

    var daysSinceEpoch: Int {
        let fromMarch = month <= 2 ? year - 1 : year
        let era = (fromMarch >= 0 ? fromMarch : fromMarch - 399) / 400
        let yearOfEra = fromMarch - era * 400
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
        return era * Self.daysPerEra + dayOfEra - Self.daysBeforeEpoch
    }

    private static func days(in month: Int, of year: Int) -> Int {
        switch month {
        case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }
}
