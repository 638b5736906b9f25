public import EventLog

extension KeyDirectory {
    /// What the topic `keys` says now. Blocks.
    ///
    /// - Parameter patience: how long the log is waited for.
    public static func read(
        from log: any EventLog, by authenticator: RecordAuthenticator, within patience: Duration
    ) throws(LogError) -> KeyDirectory {
        let consumer = try log.makeConsumer(client: "keys", group: nil)
        defer { consumer.close() }
        var follower = KeyFollower(directory: KeyDirectory(authenticator: authenticator))
        follower.follow(on: consumer)
        let deadline = ContinuousClock.now + patience
        while !follower.hasReachedEnd {
            guard ContinuousClock.now < deadline else {
                throw LogError(.unavailable, "the topic keys was not read to its end in time")
            }
            _ = try follower.apply(try consumer.poll(timeout: .milliseconds(50)), from: consumer)
        }
        return follower.directory
    }
}
