internal import Runtime

/// Threads of the backend, for calls that block as long as librdkafka likes.
enum KafkaThread {
    static func start(_ name: String, _ body: @escaping @Sendable () -> Void) {
        WorkerThread(name: name) { _ in body() }.start()
    }

    /// Runs a call of librdkafka that may outlive its time-out on a thread of its own, and waits no longer than told. `nil`
    /// when it did not end in time.
    static func run<Value: Sendable>(within timeout: Duration, _ body: @escaping @Sendable () -> Value) -> Value? {
        let result = Mailbox<Value>()
        start("kafka-call") { result.send(body()) }
        return result.receive(within: timeout).first
    }

    /// Blocks this thread, which is one of ours.
    static func rest(_ duration: Duration) { _ = Mailbox<Never>().receive(within: duration) }
}
