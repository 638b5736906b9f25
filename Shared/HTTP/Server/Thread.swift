import CMicroHTTPD
import Glibc

/// Starts threads of our own for what may block.
enum Thread {
    /// Runs `body` on a new detached thread. `name` is at most 15 bytes.
    static func start(name: String, _ body: @escaping @Sendable () -> Void) {
        final class Start {
            let name: String
            let body: @Sendable () -> Void
            init(name: String, body: @escaping @Sendable () -> Void) {
                self.name = name
                self.body = body
            }
        }
        var thread = pthread_t()
        let start = Unmanaged.passRetained(Start(name: name, body: body))
        let failure = pthread_create(
            &thread, nil,
            { argument in
                let start = Unmanaged<Start>.fromOpaque(argument!).takeRetainedValue()
                latchkey_name_this_thread(start.name)
                start.body()
                return nil
            }, start.toOpaque())
        guard failure == 0 else {
            // Without threads nothing here can work, and nobody could be told.
            fatalError("no thread could be started: \(String(cString: strerror(failure)))")
        }
        pthread_detach(thread)
    }
}
