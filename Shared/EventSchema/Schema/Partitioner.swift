/// Kafka's default partitioner for keyed records, so that any Kafka client finds a key where Latchkey put it.
///
/// Source: `org.apache.kafka.common.utils.Utils.murmur2` and `BuiltInPartitioner.partitionForKey`; librdkafka calls it
/// `murmur2_random`.
public enum Partitioner {
    public static func partition(of key: [UInt8], among count: Int) -> Int {
        Int(murmur2(key) & 0x7fff_ffff) % count
    }

    static func murmur2(_ data: [UInt8]) -> UInt32 {
        let multiplier: UInt32 = 0x5bd1_e995
        var hash: UInt32 = 0x9747_b28c ^ UInt32(truncatingIfNeeded: data.count)
        var index = 0
        while index + 4 <= data.count {
            var word =
                UInt32(data[index]) | UInt32(data[index + 1]) << 8 | UInt32(data[index + 2]) << 16 | UInt32(data[index + 3]) << 24
            word &*= multiplier
            word ^= word >> 24
            word &*= multiplier
            hash &*= multiplier
            hash ^= word
            index += 4
        }
        let left = data.count - index
        if left >= 3 { hash ^= UInt32(data[index + 2]) << 16 }
        if left >= 2 { hash ^= UInt32(data[index + 1]) << 8 }
        if left >= 1 {
            hash ^= UInt32(data[index])
            hash &*= multiplier
        }
        hash ^= hash >> 13
        hash &*= multiplier
        hash ^= hash >> 15
        return hash
    }
}
