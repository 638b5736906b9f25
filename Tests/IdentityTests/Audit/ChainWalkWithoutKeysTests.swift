import EventLog
import EventLogSimulated
import EventSchema
import SeededRandom
import Testing

@testable import IdentityService

/// What an audit finds in one partition without the MAC keys.
struct ChainWalkWithoutKeysTests {
    private func first(_ partition: AuditedPartition) -> String {
        partition.report(withKeys: false).findings.first.map { "\($0.kind.rawValue)@\($0.offset)" } ?? "intact"
    }

    @Test func `a chain that nobody touched is intact, whatever void records there are`() throws {
        var partition = try AuditedPartition(20)
        for record in partition.rivals(4).dropFirst() { partition.stand(record) }
        for _ in 0..<10 { partition.stand(partition.made()) }
        let report = partition.report(withKeys: false)
        #expect(report.findings == [])
        #expect(report.head == partition.report().head)
    }

    @Test(arguments: 0..<4)
    func `a byte that was changed is named, where something follows`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let partition = try AuditedPartition(seed: seed, 24)
        for _ in 0..<50 {
            var changed = partition
            let index = changed.records.indices.dropLast().randomElement(using: &random)!
            AuditedPartition.flip(&changed.records[index], &random)
            #expect(first(changed) == "changed@\(index)")
        }
    }

    @Test func `records that were removed, swapped, inserted or doubled are named`() throws {
        let partition = try AuditedPartition(20)
        for index in 0..<19 {
            var removed = partition
            removed.records.remove(at: index)
            #expect(first(removed) == "removed@\(index)")
            removed.renumber()
            #expect(first(removed) == "removed@\(index)")
            var swapped = partition
            swapped.records.swapAt(index, index + 1)
            swapped.renumber()
            #expect(first(swapped) == "swapped@\(index)")
            var doubled = partition
            doubled.records.append(partition.records[index])
            doubled.renumber()
            #expect(first(doubled) == "doubled@20")
            var inserted = partition
            inserted.records.insert(
                Record(
                    partition: AuditedPartition.place, offset: 0, time: Timestamp(milliseconds: 5), key: [], headers: [],
                    value: []), at: index)
            inserted.renumber()
            #expect(first(inserted) == "inserted@\(index)")
        }
    }

    @Test func `a fork is told, and the branch that goes on is taken`() throws {
        var partition = try AuditedPartition(5)
        let rival = partition.rival()
        // The void one stands first: only the key could tell that it is void, if it were forged.
        partition.stand(rival)
        for _ in 0..<200 { partition.stand(partition.made()) }
        let report = partition.report(withKeys: false)
        #expect(report.findings.map(\.kind) == [.fork])
        #expect(report.findings.first?.offset == 6)
        #expect(report.isIntact)
        #expect(report.head.hash == partition.head.hash)
        #expect(report.head.sequence == 205)
        // With the key the first one counts, and the others name a head that nobody has.
        #expect(!partition.report().isIntact)
    }
}
