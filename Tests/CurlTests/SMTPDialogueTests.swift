import Testing

@testable import Curl

@Suite struct SMTPDialogueTests {
    /// `>` before what the client sends, `<` before what it receives, `.` for the end of the content.
    private func dialogue(_ lines: String...) -> SMTPDialogue {
        var dialogue = SMTPDialogue()
        for line in lines {
            let bytes = Array((line.dropFirst() + "\r\n").utf8)
            switch line.first {
            case ">": dialogue.sent(bytes)
            case "<": dialogue.received(bytes)
            default: dialogue.finished()
            }
        }
        return dialogue
    }

    @Test func `a message whose end is answered well is accepted, whatever comes after`() {
        let dialogue = dialogue(
            "<220 x", ">EHLO a", "<250-b", "<250 X", ">MAIL FROM:<a@b>", "<250 ok", ">RCPT TO:<c@d>", "<250 ok",
            ">DATA", "<354 go", ".", "<250 taken")
        #expect(dialogue.outcome(nil) == .accepted)
        #expect(dialogue.outcome(.disconnected) == .accepted)
    }

    @Test func `without an answer to its end nobody knows`() {
        let dialogue = dialogue(">DATA", "<354 go", ".")
        #expect(dialogue.outcome(.timedOut) == .unknown)
        #expect(dialogue.outcome(.disconnected) == .unknown)
        #expect(dialogue.outcome(nil) == .unknown)
        #expect(!dialogue.isStale(.unknown))
    }

    @Test func `half a reply is none`() {
        #expect(dialogue(">DATA", "<354 go", ".", "<250-taken").outcome(.disconnected) == .unknown)
    }

    @Test func `before its end nothing was taken`() {
        #expect(dialogue(">DATA", "<354 go").outcome(.disconnected) == .failed(.disconnected))
        #expect(dialogue("<220 x").outcome(.timedOut) == .failed(.timedOut))
        #expect(dialogue().outcome(.unreachable) == .failed(.unreachable))
    }

    @Test func `a refusal counts where it was given`() {
        #expect(dialogue("<554 no").outcome(.disconnected) == .refused(SMTPReply(554), at: .greeting))
        #expect(
            dialogue(">MAIL FROM:<a@b>", "<452 4.3.1 full").outcome(.disconnected)
                == .refused(SMTPReply(452, "4.3.1"), at: .sender))
        #expect(
            dialogue(">RCPT TO:<c@d>", "<550 5.1.1 x").outcome(.disconnected) == .refused(SMTPReply(550, "5.1.1"), at: .recipient)
        )
        #expect(
            dialogue(">DATA", "<354 go", ".", "<554 5.6.0 x").outcome(.disconnected)
                == .refused(SMTPReply(554, "5.6.0"), at: .content))
    }

    @Test func `a reply that came before counts no more once something else was sent`() {
        #expect(dialogue("<421 x", ">EHLO a").outcome(.timedOut) == .failed(.timedOut))
    }

    @Test func `what continues a sign-in is no command`() {
        var dialogue = dialogue(">AUTH PLAIN", "<334 ", ">DATA", "<535 5.7.8 no")
        #expect(dialogue.outcome(.noSignIn) == .refused(SMTPReply(535, "5.7.8"), at: .signIn))
        dialogue.sent(Array("MAIL FROM:<a@b>\r\n".utf8))
        #expect(dialogue.stage == .sender)
    }

    @Test func `goodbyes change nothing`() {
        // After the end of this one.
        let refused = dialogue(">RCPT TO:<c@d>", "<550 5.1.1 x", ">QUIT", "<221 bye")
        #expect(refused.outcome(.disconnected) == .refused(SMTPReply(550, "5.1.1"), at: .recipient))
        #expect(dialogue(">DATA", "<354 go", ".", ">QUIT", "<221 bye").outcome(.timedOut) == .unknown)
        // Of an older connection.
        let fresh = dialogue(">QUIT", "<221 bye", "<220 x", ">MAIL FROM:<a@b>", "<250 ok", ">DATA", "<354 go", ".", "<250 ok")
        #expect(fresh.outcome(nil) == .accepted)
    }

    @Test func `a connection that was given up is told from one that refuses`() {
        let closing = dialogue(">MAIL FROM:<a@b>", "<421 4.4.2 idle")
        #expect(closing.isStale(closing.outcome(.disconnected)))
        #expect(dialogue(">MAIL FROM:<a@b>").isStale(.failed(.disconnected)))
        let refused = dialogue(">MAIL FROM:<a@b>", "<550 no")
        #expect(!refused.isStale(refused.outcome(.disconnected)))
        let late = dialogue(">DATA", "<354 go", ".", "<421 4.3.0 shutting down")
        #expect(!late.isStale(late.outcome(.disconnected)))
    }

    @Test func `that addresses are UTF-8 is said with the sender`() {
        #expect(dialogue(">MAIL FROM:<a@b> SMTPUTF8").saidUTF8)
        #expect(!dialogue(">MAIL FROM:<SMTPUTF8@b>").saidUTF8)
    }
}
