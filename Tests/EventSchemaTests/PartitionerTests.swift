import SeededRandom
import Testing

@testable import EventSchema

struct PartitionerTests {
    /// From the tests of Kafka's clients, where the hash is a signed number.
    @Test(
        arguments: [
            ("21", -973_932_308), ("foobar", -790_332_482), ("a-little-bit-long-string", -985_981_536),
            ("a-little-bit-longer-string", -1_486_304_829), ("lkjh234lh9fiuh90y23oiuhsafujhadof229phr9h19h89h8", -58_897_971),
            ("abc", 479_470_107),
        ] as [(String, Int32)])
    func `hashes as Kafka does`(key: String, hash: Int32) {
        #expect(Int32(bitPattern: Partitioner.murmur2(Array(key.utf8))) == hash)
    }

    @Test func `a negative hash loses its sign, not its other bits`() {
        #expect(
            Partitioner.partition(of: Array("foobar".utf8), among: 12) == (Int(UInt32(bitPattern: -790_332_482)) & 0x7fff_ffff)
                % 12)
        #expect(Partitioner.partition(of: [], among: 1) == 0)
    }

    @Test func `spreads routing keys over all partitions`() {
        var random = SeededGenerator(seed: 1)
        var counts = [Int](repeating: 0, count: 12)
        for _ in 0..<12_000 { counts[RoutingKey(value: random.next()).partition(among: 12)] += 1 }
        #expect(counts.allSatisfy { 850...1_150 ~= $0 })
    }
}
