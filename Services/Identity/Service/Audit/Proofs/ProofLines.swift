internal import Crypto
internal import EventLog
internal import EventSchema
internal import JSON
internal import Runtime

/// Says what an audit of all chains has come to.
struct ProofLines {
    let format: AuditArguments.Format
    let log: [UInt8]
    let reports: [ChainReport]

    var text: [String] { format == .jsonl ? reports.map(Self.json) : table }

    private var table: [String] {
        let rows = reports.map { report in
            [
                "\(report.place)", "\(report.valid)", "\(report.head.offset)", "\(report.void)",
                String(Base64URL.encode(report.head.hash).prefix(16)), report.isIntact ? "intact" : "BROKEN",
            ]
        }
        var lines = [TextTable.text(["PARTITION", "EVENTS", "LAST OFFSET", "VOID", "HEAD", "STATE"], rows), "\n"]
        let found = reports.flatMap { report in report.findings.map { Self.line($0) } + Self.unlisted(report) }
        lines += found
        if !found.isEmpty { lines.append("\n") }
        let broken = reports.count { !$0.isIntact }
        let events = reports.reduce(0) { $0 + $1.valid }
        lines.append(
            broken == 0
                ? "intact: \(events) events in \(reports.count) partitions of log \(Base64URL.encode(log))\n"
                : "BROKEN: \(broken) of \(reports.count) partitions of log \(Base64URL.encode(log))\n")
        return lines
    }

    private static func line(_ finding: ChainFinding) -> String {
        let event = finding.sequence.map { " (event \($0))" } ?? ""
        return "\(finding.place): \(finding.kind.rawValue) at offset \(finding.offset)\(event): \(finding.text)\n"
    }

    private static func unlisted(_ report: ChainReport) -> [String] {
        report.unlisted > 0 ? ["\(report.place): \(report.unlisted) more\n"] : []
    }

    private static func json(_ report: ChainReport) -> String {
        let findings = report.findings.map { finding -> JSON in
            [
                "kind": .string(finding.kind.rawValue), "breaks": .bool(finding.kind.isBreak),
                "offset": .integer(finding.offset),
                "sequence": finding.sequence.map { .integer($0) } ?? .null, "text": .string(finding.text),
            ]
        }
        let object: JSON = [
            "topic": .string(report.place.topic.rawValue), "partition": .integer(Int64(report.place.partition)),
            "intact": .bool(report.isIntact), "events": .integer(Int64(report.valid)),
            "void": .integer(Int64(report.void)), "records": .integer(Int64(report.records)),
            "sequence": .integer(report.head.sequence), "offset": .integer(report.head.offset),
            "hash": .string(Base64URL.encode(report.head.hash)), "end": .integer(report.end),
            "contents": .string(Base64URL.encode(report.contents)), "findings": .array(findings),
            "unlisted": .integer(Int64(report.unlisted)),
        ]
        return String(decoding: object.serialized(), as: UTF8.self) + "\n"
    }
}
