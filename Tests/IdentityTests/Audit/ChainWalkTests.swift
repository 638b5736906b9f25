import Crypto
import EventLog
import EventLogSimulated
import EventSchema
import SeededRandom
import Testing

@testable import IdentityService

/// What an audit finds in one partition with the MAC keys.
struct ChainWalkTests {
    private typealias Kind = ChainFinding.Kind

    private func first(_ report: ChainReport) -> String {
        report.findings.first.map { "\($0.kind.rawValue)@\($0.offset)" } ?? "intact"
    }

    @Test func `a chain that nobody touched is intact`() throws {
        let partition = try AuditedPartition(50)
        let report = partition.report()
        #expect(report.findings == [])
        #expect(report.head == ChainHead(sequence: 50, hash: partition.head.hash, offset: 49, key: 1))
        #expect(report.valid == 50 && report.records == 50 && report.end == 50 && report.void == 0)
        #expect(try AuditedPartition(0).report().isIntact)
    }

    @Test(arguments: 0..<12)
    func `what owners and speculations leave behind is nothing bad`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        var partition = try AuditedPartition(seed: seed, 3)
        for _ in 0..<40 {
            switch Int.random(in: 0..<5, using: &random) {
            case 0:
                // A speculation whose first append was lost.
                for record in partition.rivals(Int.random(in: 2...6, using: &random)).dropFirst() { partition.stand(record) }
            case 1:
                // An owner who did not know yet that another one had decided.
                let late = partition.rivals(Int.random(in: 1...3, using: &random))
                partition.stand(partition.made())
                for record in late { partition.stand(record) }
            case 2:
                // A produce request that came twice.
                let record = partition.made()
                partition.stand(record)
                partition.stand(record)
            case 3:
                // Two that overtook each other, and were decided again.
                let pair = partition.rivals(2)
                partition.stand(pair[1])
                partition.stand(partition.made())
            default: partition.stand(partition.made())
            }
        }
        partition.stand(partition.made())
        let report = partition.report()
        #expect(report.isIntact, "\(first(report))")
        #expect(report.findings.allSatisfy { $0.kind == .doubled })
        #expect(report.head.hash == partition.head.hash)
    }

    @Test func `an event that was put before the one that it was void after is named`() throws {
        var partition = try AuditedPartition(5)
        let rival = partition.rival()
        partition.stand(partition.made())
        partition.stand(rival)
        for _ in 0..<200 { partition.stand(partition.made()) }
        #expect(partition.report().isIntact)
        partition.records.swapAt(5, 6)
        partition.renumber()
        #expect(first(partition.report()) == "moved@7")
    }

    @Test(arguments: 0..<4)
    func `a byte that was changed anywhere is named`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let partition = try AuditedPartition(seed: seed, 24)
        for _ in 0..<50 {
            var changed = partition
            let index = changed.records.indices.randomElement(using: &random)!
            AuditedPartition.flip(&changed.records[index], &random)
            let report = changed.report()
            #expect(first(report) == "changed@\(index)")
            #expect(!report.isIntact && report.head.sequence == Int64(index))
        }
    }

    @Test func `a void record that was changed is named, and the chain goes on`() throws {
        var random = SeededGenerator(seed: 5)
        var partition = try AuditedPartition(10)
        let rival = partition.rival()
        partition.stand(partition.made())
        partition.stand(rival)
        partition.stand(partition.made())
        for _ in 0..<40 {
            var changed = partition
            AuditedPartition.flip(&changed.records[11], &random)
            #expect(first(changed.report()) == "inserted@11")
            #expect(changed.report().head.sequence == 12)
        }
    }

    @Test func `a record that was removed is named, with and without a hole where it was`() throws {
        let partition = try AuditedPartition(30)
        for index in 0..<29 {
            var removed = partition
            removed.records.remove(at: index)
            #expect(first(removed.report()) == "removed@\(index)")
            removed.renumber()
            #expect(first(removed.report()) == "removed@\(index)")
            #expect(removed.report().findings.first?.sequence == Int64(index + 1))
        }
        // Several in a row.
        var removed = partition
        removed.records.removeSubrange(7..<12)
        #expect(first(removed.report()) == "removed@7")
    }

    @Test func `a void record that was removed leaves a hole`() throws {
        var partition = try AuditedPartition(10)
        let rival = partition.rival()
        partition.stand(partition.made())
        partition.stand(rival)
        partition.stand(partition.made())
        partition.records.remove(at: 11)
        #expect(first(partition.report()) == "removed@11")
        #expect(partition.report().head.sequence == 12)
    }

    @Test func `an event that was removed so that a void one takes its place is named`() throws {
        var partition = try AuditedPartition(5)
        let rivals = partition.rivals(2)
        partition.stand(partition.made())
        for rival in rivals { partition.stand(rival) }
        for _ in 0..<5 { partition.stand(partition.made()) }
        #expect(partition.report().isIntact)
        partition.records.remove(at: 5)
        partition.renumber()
        #expect(partition.report().findings.first?.kind == .removed)
    }

    @Test func `a record that was inserted is named, and the chain goes on`() throws {
        let partition = try AuditedPartition(20)
        for index in 0...20 {
            var inserted = partition
            inserted.records.insert(
                Record(
                    partition: AuditedPartition.place, offset: 0, time: Timestamp(milliseconds: 5), key: [1],
                    headers: [Header("ce_type", "x")], value: [2]), at: index)
            inserted.renumber()
            #expect(first(inserted.report()) == "inserted@\(index)")
            #expect(inserted.report().head.sequence == 20)
        }
    }

    @Test func `an event made without the key is named`() throws {
        var partition = try AuditedPartition(5)
        let outsider = try RecordAuthenticator(keys: [1: Secret([UInt8](repeating: 8, count: 32))])
        var chain = try ChainWriter(
            AuditedPartition.place, after: partition.head, authenticator: outsider, writer: "outsider")
        let forged = chain.append(
            EventBody(type: "x.v1", subject: nil, data: []), id: .random(), key: [], at: Timestamp(milliseconds: 1),
            inboxes: InboxPositions())
        partition.stand(forged)
        #expect(first(partition.report()) == "changed@5")
        partition.stand(partition.made())
        #expect(first(partition.report()) == "inserted@5")
        #expect(partition.report().head.sequence == 6)
    }

    @Test func `a copy of a record does no harm and is named`() throws {
        let partition = try AuditedPartition(10)
        for index in 0..<10 {
            for place in 0...10 where place != index {
                var doubled = partition
                doubled.records.insert(partition.records[index], at: place)
                doubled.renumber()
                let report = doubled.report()
                // A copy that stands first is the event, and what stood there before is the copy.
                #expect(report.isIntact && report.findings.map(\.kind) == [.doubled])
                #expect(report.head.sequence == 10)
            }
        }
    }

    @Test func `two records that were swapped are named`() throws {
        let partition = try AuditedPartition(10)
        for low in 0..<9 {
            for high in (low + 1)..<10 {
                var swapped = partition
                swapped.records.swapAt(low, high)
                swapped.renumber()
                let report = swapped.report()
                #expect(first(report) == "swapped@\(low)")
                #expect(report.findings.first?.text.contains("offset \(high)") == true)
            }
        }
    }

    @Test func `a record that was moved back is named`() throws {
        var partition = try AuditedPartition(16)
        partition.records.insert(partition.records.remove(at: 4), at: 9)
        partition.renumber()
        #expect(first(partition.report()) == "moved@4")
    }

    @Test func `a tail that was cut is named by whoever knows of it`() throws {
        let partition = try AuditedPartition(20)
        let whole = partition.report()
        var cut = partition
        cut.records.removeLast(5)
        #expect(cut.report().isIntact)
        // The log itself still says where it ended,
        #expect(first(cut.report(end: 20)) == "cut@15")
        // or somebody who has read it,
        let witness = ChainExpectation(sequence: 18, hash: partition.records[17].hash, offset: 17, witness: "Somebody has read")
        #expect(first(cut.report(expecting: [witness])) == "cut@15")
        #expect(partition.report(expecting: [witness]).isIntact)
        // or an earlier proof.
        #expect(first(cut.report(earlier: whole)) == "cut@15")
    }

    @Test func `a history that was written anew with the key is named by an earlier proof`() throws {
        let proof = try AuditedPartition(seed: 1, 20).report()
        let other = try AuditedPartition(seed: 2, 30)
        #expect(other.report().isIntact)
        let witness = ChainExpectation(sequence: 20, hash: proof.head.hash, offset: 19, witness: "Yesterday's proof saw")
        #expect(first(other.report(expecting: [witness])) == "rewritten@19")
        var grown = try AuditedPartition(seed: 1, 20)
        for _ in 0..<10 { grown.stand(grown.made()) }
        #expect(grown.report(expecting: [witness], earlier: proof).findings == [])
    }

    @Test func `what counts for nothing cannot be changed behind an earlier proof either`() throws {
        var partition = try AuditedPartition(5)
        let rival = partition.rival()
        partition.stand(partition.made())
        partition.stand(rival)
        let proof = partition.report()
        partition.stand(partition.made())
        #expect(partition.report(earlier: proof).isIntact)
        var later = partition
        later.records[2].time = later.records[2].time + .seconds(1)
        #expect(later.report().isIntact)
        #expect(first(later.report(earlier: proof)) == "rewritten@7")
        partition.records.remove(at: 6)
        partition.renumber()
        #expect(partition.report().isIntact)
        #expect(!partition.report(earlier: proof).isIntact)
    }

    @Test func `a MAC key that is not held is named`() throws {
        let both = try RecordAuthenticator(keys: [
            1: Secret([UInt8](repeating: 7, count: 32)), 2: Secret([UInt8](repeating: 9, count: 32)),
        ])
        var partition = try AuditedPartition(5)
        partition.stand(partition.made(LogRecordType.macKeyIntroduced, #"{"key":2}"#))
        var head = partition.head
        head.key = 2
        var chain = try ChainWriter(AuditedPartition.place, after: head, authenticator: both, writer: "two")
        for _ in 0..<3 {
            partition.stand(
                chain.append(
                    EventBody(type: "x.v1", subject: nil, data: []), id: .random(), key: [],
                    at: Timestamp(milliseconds: 1_800_000_000_000), inboxes: InboxPositions()))
        }
        #expect(partition.report(authenticator: both).isIntact)
        #expect(partition.report(authenticator: both).head.sequence == 9)
        #expect(first(partition.report()) == "unreadable@6")
        #expect(partition.report().findings.first?.text.contains("MAC key 2") == true)
    }
}
