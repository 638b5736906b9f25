public import AttachedProjections
public import EventLog
public import EventSchema
internal import LoopService
public import Postgres
internal import Runtime

/// Sign-ups, and addresses that were verified, per day, in a table of their own: an example of a projection that is attached to the log.
///
/// It needs nobody's keys: whether somebody signed up, and when, stands in the events readable; who they are does not.
public struct DailyFigures: AttachedProjection {
    public let name = "daily"
    public let topics = [Topic.identityEvents]
    public var files: [(name: String, contents: [UInt8])] {
        [("0002_daily_figures.sql", PackageResources._002_daily_figures_sql)]
    }

    /// Where it begins.
    public enum Start: Hashable, Sendable {
        case beginning
        case since(Timestamp)

        var time: Timestamp? { if case .since(let time) = self { time } else { nil } }
    }

    public init() {}

    public func statements(for events: [EventEnvelope]) throws(UnreadableBody) -> [SQL] {
        var days: [Int64: (signUps: Int64, verified: Int64)] = [:]
        for envelope in events {
            let (signUps, verified) = try Self.figures(of: envelope)
            if signUps == 0, verified == 0 { continue }
            // Days since 1970-01-01, of the time at which it was decided.
            let day = Int64((Double(envelope.time.milliseconds) / 86_400_000).rounded(.down))
            days[day, default: (0, 0)].signUps += signUps
            days[day, default: (0, 0)].verified += verified
        }
        let rows = days.sorted { $0.key < $1.key }
        if rows.isEmpty { return [] }
        return [
            """
            INSERT INTO figures (day, sign_ups, verified)
            SELECT date '1970-01-01' + day::integer, sign_ups, verified
            FROM unnest(\(rows.map(\.key)), \(rows.map(\.value.signUps)), \(rows.map(\.value.verified)))
                AS batch(day, sign_ups, verified)
            ON CONFLICT (day) DO UPDATE SET
                sign_ups = figures.sign_ups + excluded.sign_ups, verified = figures.verified + excluded.verified
            """
        ]
    }

    private static func figures(of envelope: EventEnvelope) throws(UnreadableBody) -> (signUps: Int64, verified: Int64) {
        do throws(SchemaError) {
            return
                switch try SchemaCodec.current.decode(
                    IdentityEvent.self, type: envelope.body.type, data: envelope.body.data)
            {
            case .userRegistered: (1, 0)
            case .contactVerified: (0, 1)
            // Who reads the code of a reset has the address.
            case .passwordReset(let event): (0, event.verifiedAt == nil ? 0 : 1)
            default: (0, 0)
            }
        } catch {
            throw UnreadableBody(type: envelope.body.type, reason: "\(error)")
        }
    }
}

extension DailyFigures {
    /// Makes the table anew from the log. Blocks.
    ///
    /// - Returns: how many events were taken in.
    public static func rebuild(
        _ configuration: IdentityConfiguration, log: any EventLog, progress: (_ done: Int64, _ all: Int64) -> Void
    ) throws -> Int {
        try AttachedRebuild(
            DailyFigures(), log: log, authenticator: try RecordAuthenticator(configuration.common.macKeys),
            database: IdentityService.database(configuration.common), since: configuration.dailyFigures?.time
        ).run(progress: progress)
    }
}

extension SettingType where Value == DailyFigures.Start {
    static var start: SettingType {
        SettingType(
            expectation: "beginning, or a time such as 2026-01-31T00:00:00Z", placeholder: .beginning,
            parse: { text in text == "beginning" ? .beginning : Timestamp(rfc3339: text).map { .since($0) } },
            render: { $0.time?.rfc3339 ?? "beginning" })
    }
}
