import EventSchema
import Testing

@testable import NotifierService

@Suite struct MessageTemplateTests {
    private let english = LanguageTag("en")!

    private func template(_ text: String, _ channel: Channel = .email) throws(MessageTemplate.Fault) -> MessageTemplate {
        try MessageTemplate(Array(text.utf8), channel: channel)
    }

    @Test func `places are filled in subject and text`() throws {
        let template = try template("Subject: {{code}} it is\n\nCode {{code}}, {{minutes}} min.\n\nBye\n\n")
        let content = template.render(code: "012345", lifetime: .minutes(5), in: english)
        #expect(content.subject == "012345 it is")
        #expect(content.text == "Code 012345, 5 min.\n\nBye")
        #expect(content.html == nil)
    }

    @Test func `an SMS has no subject`() throws {
        let content = try template("{{code}}\n", .sms).render(code: "1", lifetime: .minutes(5), in: english)
        #expect(content.subject == nil)
        #expect(content.text == "1")
    }

    @Test(arguments: [(0, 1), (1, 1), (60_000, 1), (60_001, 2), (299_999, 5)] as [(Int64, Int)])
    func `minutes are rounded up and at least one`(milliseconds: Int64, minutes: Int) throws {
        let content = try template("{{code}} {{minutes}}", .sms)
            .render(code: "1", lifetime: .milliseconds(milliseconds), in: english)
        #expect(content.text == "1 \(minutes)")
    }

    @Test func `lines may end as they do elsewhere`() throws {
        let content = try template("Subject: x\r\n\r\n{{code}}\r\nBye\r\n").render(code: "1", lifetime: .zero, in: english)
        #expect(content.subject == "x")
        #expect(content.text == "1\nBye")
    }

    @Test func `in HTML values are escaped, language and direction known`() throws {
        var template = try template("Subject: {{code}}\n\n{{code}}")
        try template.setHTML(Array(#"<p lang="{{language}}" dir="{{direction}}">{{code}}</p>"#.utf8))
        let content = template.render(code: #"<b>&"'"#, lifetime: .zero, in: LanguageTag("ar-EG")!)
        #expect(content.html == #"<p lang="ar-EG" dir="rtl">&lt;b&gt;&amp;&quot;&#39;</p>"#)
        #expect(content.text == #"<b>&"'"#)
        #expect(throws: MessageTemplate.Fault.noCode) { try template.setHTML(Array("<p></p>".utf8)) }
        #expect(throws: MessageTemplate.Fault.unknownPlace("name")) { try template.setHTML(Array("{{code}}{{name}}".utf8)) }
    }

    @Test(
        arguments: [
            ("en", "ltr"), ("ar", "rtl"), ("he-IL", "rtl"), ("fa-AF", "rtl"), ("az", "ltr"), ("az-Arab-IR", "rtl"), ("ku", "ltr"),
            ("ar-Latn", "ltr"), ("yi", "rtl"), ("ur-PK", "rtl"), ("ckb", "rtl"), ("de-x-arab", "ltr"),
        ])
    func `a language is written its way`(locale: String, direction: String) {
        #expect(WritingDirection(of: LanguageTag(locale)!).rawValue == direction)
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

    @Test(arguments: ["Your code: {{code}}", "For {{minutes}} minutes"])
    func `a notice has no code to tell of`(text: String) {
        #expect(throws: MessageTemplate.Fault.needlessCode) {
            try MessageTemplate(Array("Subject: x\n\n\(text)".utf8), channel: .email, hasCode: false)
        }
    }

    // MARK: All of them

    @Test func `every purpose has a template in every language that comes along`() throws {
        let templates = try MessageTemplates()
        for purpose in Occasion.allCases {
            for language in ["en", "de"] {
                let (locale, template) = templates.template(for: purpose, LanguageTag(language))
                #expect(locale == LanguageTag(language))
                let hasCode = purpose.purpose != nil
                let content = template.render(code: hasCode ? "012345" : nil, lifetime: .minutes(5), in: locale)
                #expect((content.subject == nil) == (purpose.channel == .sms))
                #expect((content.html == nil) == (purpose.channel == .sms))
                for text in [content.text, content.html].compactMap(\.self) {
                    #expect(text.contains("012345") == hasCode)
                    #expect((text.contains("5 Min.") || text.contains("5 min.")) == hasCode)
                    #expect(!text.contains("{{"))
                }
                // Whoever reads the HTML reads every word of the text.
                let words = content.text.split { $0 == "\n" || $0 == " " }
                #expect(words.allSatisfy { content.html?.contains($0) ?? true })
            }
        }
    }

    @Test(
        arguments: [
            ("de-AT", "de"), ("de", "de"), ("fr", "en"), ("en-US", "en"), (nil, "en"), ("de-Latn-AT-1996", "de"),
            ("de-x-ab", "de"),
        ] as [(String?, String)])
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
            templates.template(for: .emailVerification, LanguageTag(tag)).template
                .render(code: "1", lifetime: .zero, in: english).subject
        }
        #expect(subject("en") == "Ours")
        #expect(subject("pt-BR") == "Nosso")
        #expect(subject("pt") == "Ours")
        #expect(subject("de") == "Dein Bestätigungscode")
    }

    @Test(arguments: ["email_verification.txt", "email_verification.e.txt", "welcome.en.txt", "email_verification.en.htm"])
    func `a file of another name is refused`(name: String) {
        let fault = MessageTemplates.Fault(file: name, reason: "the name is not PURPOSE.LANGUAGE.txt or PURPOSE.LANGUAGE.html")
        #expect(throws: fault) { try MessageTemplates(own: [(name, Array("Subject: x\n\n{{code}}".utf8))]) }
    }

    @Test func `an own text takes the place of the HTML too, unless there is own HTML`() throws {
        let text: MessageTemplates.File = ("email_verification.en.txt", Array("Subject: x\n\n{{code}}".utf8))
        let html: MessageTemplates.File = ("email_verification.en.html", Array("<p>{{code}}</p>".utf8))
        func content(_ own: [MessageTemplates.File]) throws -> MessageTemplate.Content {
            try MessageTemplates(own: own).template(for: .emailVerification, english).template
                .render(code: "1", lifetime: .zero, in: english)
        }
        #expect(try content([text]).html == nil)
        #expect(try content([html, text]).html == "<p>1</p>")
        #expect(try content([html]).html == "<p>1</p>")
        #expect(try content([html]).subject == "Your verification code")
        let alone: MessageTemplates.File = ("email_verification.fr.html", html.contents)
        #expect(throws: MessageTemplates.Fault(file: alone.name, reason: "there is no text for it")) { try content([alone]) }
        let short: MessageTemplates.File = ("phone_verification.en.html", html.contents)
        #expect(throws: MessageTemplates.Fault(file: short.name, reason: "an SMS has no HTML")) { try content([short]) }
    }

    @Test func `a fault names the file`() {
        let fault = MessageTemplates.Fault(file: "phone_verification.en.txt", reason: "it does not contain {{code}}")
        #expect(throws: fault) { try MessageTemplates(own: [("phone_verification.en.txt", Array("Hello".utf8))]) }
    }
}
