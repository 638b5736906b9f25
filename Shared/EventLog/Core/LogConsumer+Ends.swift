public import EventSchema

extension LogConsumer {
    /// The offsets that the next records of these topics will get.
    ///
    /// - Parameter partitions: how many the log has.
    public func ends(of topics: [Topic], partitions: Int) throws(LogError) -> [TopicPartition: Int64] {
        var ends: [TopicPartition: Int64] = [:]
        for topic in topics {
            for partition in 0..<topic.partitions(of: partitions) {
                let place = TopicPartition(topic, partition)
                ends[place] = try bounds(of: place).upperBound
            }
        }
        return ends
    }
}
