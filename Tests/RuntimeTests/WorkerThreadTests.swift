import Glibc
import Runtime
import Testing

@Suite struct WorkerThreadTests {
    private struct Broken: Error {}

    @Test func `a thread runs until its flag is raised`() async throws {
        let mailbox = Mailbox<Int>()
        let total = Observed(0)
        let thread = WorkerThread(name: "adder") {
            mailbox.wake()
        } _: { stop in
            while !stop.isRaised {
                for number in mailbox.receive(within: nil) { total.update { $0 += number } }
            }
        }
        thread.start()
        thread.start()
        mailbox.send(1)
        mailbox.send(2)
        await total.wait { $0 == 3 }
        #expect(!thread.join(within: .milliseconds(1)))
        thread.stop.raise()
        thread.stop.raise()
        try await thread.ended()
        #expect(thread.join(within: .zero))
    }

    @Test func `what the loop throws is thrown to whoever waits`() async {
        let thread = WorkerThread(name: "broken") { _ in throw Broken() }
        await #expect(throws: Broken.self) { try await thread.run() }
        await #expect(throws: Broken.self) { try await thread.ended() }
    }

    @Test func `cancellation raises the flag`() async {
        let mailbox = Mailbox<Int>()
        let thread = WorkerThread(name: "cancelled") {
            mailbox.wake()
        } _: { stop in
            while !stop.isRaised { _ = mailbox.receive(within: nil) }
        }
        let running = Task { try await thread.run() }
        running.cancel()
        _ = await running.result
        #expect(thread.stop.isRaised)
        #expect(thread.join(within: .seconds(5)))
    }

    @Test func `the kernel knows the thread by its name, and no signal interrupts it`() async throws {
        let seen = Observed("")
        let thread = WorkerThread(name: "a-name-that-is-longer-than-15") { _ in
            var buffer = [UInt8](repeating: 0, count: 64)
            let file = open("/proc/thread-self/comm", O_RDONLY)
            let count = read(file, &buffer, buffer.count)
            close(file)
            var mask = sigset_t()
            pthread_sigmask(SIG_BLOCK, nil, &mask)
            let isMasked = sigismember(&mask, SIGTERM) == 1
            seen.update { $0 = String(decoding: buffer[..<max(0, count)], as: UTF8.self) + (isMasked ? "masked" : "open") }
        }
        try await thread.run()
        #expect(seen.value == "a-name-that-is-\nmasked")
    }
}
