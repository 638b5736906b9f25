import EventSchema
import Testing

@testable import NotifierService

@Suite struct MessageTemplateTests {
    private func template(_ text: String, _ channel: Channel = .email) throws(MessageTemplate.Fault) -> MessageTemplate {
        try MessageTemplate(Array(text.utf8), channel: channel)
    }

    @Test func `places are filled in subject and text`() throws {
        let template = try template("Subject: {{code}} it is\n\nCode {{code}}, {{minutes}} min.\n\nBye\n\n")
        let (subject, text) = template.render(code: "012345", lifetime: .minutes(5))
        #expect(subject == "012345 it is")
        #expect(text == "Code 012345, 5 min.\n\nBye")
    }

    @Test func `an SMS has no subject`() throws {
        let (subject, text) = try template("{{code}}\n", .sms).render(code: "1", lifetime: .minutes(5))
        #expect(subject == nil)
        #expect(text == "1")
    }

    @Test(arguments: [(0, 1), (1, 1), (60_000, 1), (60_001, 2), (299_999, 5)] as [(Int64, Int)])
    func `minutes are rounded up and at least one`(milliseconds: Int64, minutes: Int) throws {
        let (_, text) = try template("{{code}} {{minutes}}", .sms).render(code: "1", lifetime: .milliseconds(milliseconds))
        #expect(text == "1 \(minutes)")
    }

    @Test(
        arguments: [
            ("no subject {{code}}", .noSubject), ("Subject: \n\n{{code}}", .noSubject), ("Subject: x\n{{code}}", .noSubject),
            ("Subject: x\n\n\n\n", .noText), ("Subject: x\n\nno place", .noCode), ("Subject: {{code}}\n\nno place", .noCode),
            ("Subject: x\n\n{{code}} {{name}}", .unknownPlace("name")),
            ("Subject: x\n\n{{code}} {{ code}}", .unknownPlace(" code")),
            ("Subject: x\n\n{{code}} {{minutes", .openPlace), ("", .noSubject),
        ] as [(String, MessageTemplate.Fault)])
    func `a template that cannot work is refused`(text: String, fault: MessageTemplate.Fault) {
        #expect(throws: fault) { try template(text) }
    }

    @Test func `a file that is no UTF-8 is refused`() {
        #expect(throws: MessageTemplate.Fault.notUTF8) { try MessageTemplate([0xff, 0xfe], channel: .sms) }
    }

    // MARK: All of them

    @Test func `every purpose has a template in every language that comes along`() throws {
        let templates = try MessageTemplates()
        for purpose in Purpose.allCases {
            for language in ["en", "de"] {
                let (locale, template) = templates.template(for: purpose, LanguageTag(language))
                #expect(locale == LanguageTag(language))
                let (subject, text) = template.render(code: "012345", lifetime: .minutes(5))
                #expect((subject == nil) == (purpose.channel == .sms))
                #expect(text.contains("012345"))
                #expect(text.contains("5 Min.") || text.contains("5 min."))
                #expect(!text.contains("{{"))
            }
        }
    }

    @Test(arguments: [("de-AT", "de"), ("de", "de"), ("fr", "en"), ("en-US", "en"), (nil, "en")] as [(String?, String)])
    func `the nearest language is taken`(wanted: String?, given: String) throws {
        #expect(
            try MessageTemplates().template(for: .emailVerification, wanted.flatMap { LanguageTag($0) }).locale
                == LanguageTag(given))
    }

    @Test func `own templates take the place of those that come along`() throws {
        let own = [
            (name: "email_verification.en.txt", contents: Array("Subject: Ours\n\n{{code}}".utf8)),
            (name: "email_verification.pt-BR.txt", contents: Array("Subject: Nosso\n\n{{code}}".utf8)),
        ]
        let templates = try MessageTemplates(own: own)
        func subject(_ tag: String) -> String? {
            templates.template(for: .emailVerification, LanguageTag(tag)).template.render(code: "1", lifetime: .zero).subject
        }
        #expect(subject("en") == "Ours")
        #expect(subject("pt-BR") == "Nosso")
        #expect(subject("pt") == "Ours")
        #expect(subject("de") == "Dein Bestätigungscode")
    }

    @Test(arguments: ["email_verification.txt", "email_verification.e.txt", "welcome.en.txt", "email_verification.en.html"])
    func `a file of another name is refused`(name: String) {
        let fault = MessageTemplates.Fault(file: name, reason: "the name is not PURPOSE.LANGUAGE.txt")
        #expect(throws: fault) { try MessageTemplates(own: [(name, Array("Subject: x\n\n{{code}}".utf8))]) }
    }

    @Test func `a fault names the file`() {
        let fault = MessageTemplates.Fault(file: "phone_verification.en.txt", reason: "it does not contain {{code}}")
        #expect(throws: fault) { try MessageTemplates(own: [("phone_verification.en.txt", Array("Hello".utf8))]) }
    }
}
