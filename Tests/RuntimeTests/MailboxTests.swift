import Runtime
import Testing

@Suite struct MailboxTests {
    @Test func `messages come in order, all at once`() {
        let mailbox = Mailbox<Int>(limit: 3)
        #expect(mailbox.send(1))
        #expect(mailbox.send(2))
        #expect(mailbox.send(3))
        #expect(!mailbox.send(4))
        #expect(mailbox.count == 3)
        #expect(mailbox.receive(within: .zero) == [1, 2, 3])
        #expect(mailbox.receive(within: .milliseconds(1)).isEmpty)
        #expect(mailbox.send(5))
    }

    @Test func `of many messages as few as wanted are taken`() {
        let mailbox = Mailbox<Int>()
        for number in 1...5 { mailbox.send(number) }
        #expect(mailbox.receive(within: .zero, atMost: 2) == [1, 2])
        #expect(mailbox.receive(within: .zero, atMost: 3) == [3, 4, 5])
        #expect(mailbox.receive(within: .zero, atMost: 1).isEmpty)
    }

    @Test func `a closed mailbox gives what it has and takes nothing`() {
        let mailbox = Mailbox<Int>()
        mailbox.send(1)
        mailbox.close()
        #expect(mailbox.isClosed)
        #expect(!mailbox.send(2))
        #expect(mailbox.receive(within: nil) == [1])
        #expect(mailbox.receive(within: nil).isEmpty)
    }

    @Test func `a wake that came early is not lost`() {
        let mailbox = Mailbox<Int>()
        mailbox.wake()
        #expect(mailbox.receive(within: nil).isEmpty)
        #expect(mailbox.receive(within: .milliseconds(1)).isEmpty)
    }
}
