import Crypto
import EventSchema
import Foundation
import SeededRandom
import Testing

@testable import Identifiers

struct EmailAddressTests {
    @Test(arguments: [
        ("user@example.com", "user@example.com"), ("User@X.com ", "user@x.com"),
        ("\u{a0}\tUSER@EXAMPLE.COM\r\n", "user@example.com"),
        ("first.last+tag@sub.example.co.uk", "first.last+tag@sub.example.co.uk"),
        ("o'hara!#$%&*-/=?^_`{|}~@x.de", "o'hara!#$%&*-/=?^_`{|}~@x.de"),
        // One letter in several spellings: the Kelvin and Ångström signs, letters and their accents apart, a dotted capital I.
        ("\u{212a}elvin@example.com", "kelvin@example.com"), ("\u{212b}ke@example.com", "åke@example.com"),
        ("A\u{30a}ke@example.com", "åke@example.com"), ("\u{130}pek@example.com", "i\u{307}pek@example.com"),
        ("I\u{307}pek@example.com", "i\u{307}pek@example.com"), ("ΣΊΣΥΦΟΣ@example.gr", "σίσυφοσ@example.gr"),
        ("用户@例子.测试", "用户@xn--fsqu00a.xn--0zwm56d"),
        // Domains as A-labels.
        ("x@MÜNCHEN.de", "x@xn--mnchen-3ya.de"), ("x@mu\u{308}nchen.de", "x@xn--mnchen-3ya.de"),
        ("x@XN--MNCHEN-3YA.DE", "x@xn--mnchen-3ya.de"),
        ("x@faß.de", "x@xn--fa-hia.de"), ("x@例。com", "x@xn--fsq.com"), ("x@ｅｘａｍｐｌｅ.com", "x@example.com"),
        ("x@\u{212a}elvin.com", "x@kelvin.com"),
        ("x@a--b.com", "x@a--b.com"), ("x@3.141.com", "x@3.141.com"),
    ])
    func `has one form`(entered: String, canonical: String) throws {
        let address = try EmailAddress(entered)
        #expect(Array(address.text.utf8) == Array(canonical.utf8))
        #expect(try EmailAddress(address.text) == address)
    }

    @Test(
        arguments: [
            ("", .empty), (" \n ", .empty), ("user", .notOneAtSign), ("a@b@example.com", .notOneAtSign), ("@", .localPart),
            ("@x.de", .localPart),
            ("user@", .domainWithoutDot), ("user@localhost", .domainWithoutDot), ("us er@example.com", .forbiddenCharacter),
            ("user@exam ple.com", .forbiddenCharacter), ("user\u{0}@example.com", .forbiddenCharacter),
            ("user@example.com\u{0}", .forbiddenCharacter),
            ("us\ter@example.com", .forbiddenCharacter), ("us\r\ner@example.com", .forbiddenCharacter),
            ("us\u{7f}er@example.com", .forbiddenCharacter),
            ("us\u{85}er@example.com", .forbiddenCharacter), ("us\u{2028}er@example.com", .forbiddenCharacter),
            ("us\u{a0}er@example.com", .forbiddenCharacter),
            ("us\u{200b}er@example.com", .forbiddenCharacter), ("us\u{200d}er@example.com", .forbiddenCharacter),
            ("us\u{202e}er@example.com", .forbiddenCharacter),
            ("\u{feff}user@example.com", .forbiddenCharacter), ("us\u{ad}er@example.com", .forbiddenCharacter),
            ("us\u{3164}er@example.com", .forbiddenCharacter),
            ("us\u{fe0f}er@example.com", .forbiddenCharacter), ("us\u{e000}er@example.com", .forbiddenCharacter),
            ("us\u{378}er@example.com", .forbiddenCharacter),
            ("us\u{fffe}er@example.com", .forbiddenCharacter), ("user@exa\u{ad}mple.com", .forbiddenCharacter),
            ("\"user\"@example.com", .quotedLocalPart), ("\"us er\"@example.com", .forbiddenCharacter),
            ("us\"er@example.com", .localPart),
            (".user@example.com", .localPart), ("user.@example.com", .localPart), ("us..er@example.com", .localPart),
            ("us,er@example.com", .localPart),
            ("us;er@example.com", .localPart), ("us\u{37e}er@example.com", .localPart), ("us:er@example.com", .localPart),
            ("<user@example.com>", .localPart),
            ("us(x)er@example.com", .localPart), ("us\\er@example.com", .localPart), ("us[er@example.com", .localPart),
            ("user@.example.com", .domain), ("user@example.com.", .domain), ("user@example..com", .domain),
            ("user@-x.com", .domain),
            ("user@x-.com", .domain), ("user@a_b.com", .domain), ("user@a_b.ü.com", .domain), ("user@a＿b.com", .domain),
            ("user@[192.0.2.1]", .domain),
            ("user@192.0.2.1", .domain), ("user@١.٢", .domain), ("user@example.1", .domain), ("user@x.com>", .domain),
            ("user@x.com,y.com", .domain),
            ("user@☃.net", .domain), ("user@a≠b.com", .domain), ("user@xn--n3h.net", .domain), ("user@xn--a.com", .domain),
            ("user@xn--.com", .domain),
            ("user@xn--abc-.com", .domain), ("user@xn--xn--a.com", .domain), ("user@\u{301}a.com", .domain),
            ("user@ü..com", .domain), ("user@℀.com", .domain),
            ("user＠example.com", .notOneAtSign),
        ] as [(String, IdentifierFault)])
    func `says what is wrong`(entered: String, fault: IdentifierFault) {
        #expect(throws: fault) { try EmailAddress(entered) }
        #expect(!fault.message.isEmpty)
    }

    @Test func `has the lengths of RFC 5321, in bytes`() throws {
        let label = String(repeating: "d", count: 63)
        let local = String(repeating: "l", count: 64)
        #expect(throws: Never.self) { try EmailAddress("\(local)@\(label).com") }
        #expect(throws: IdentifierFault.localPartTooLong) { try EmailAddress("l\(local)@\(label).com") }
        #expect(throws: IdentifierFault.localPartTooLong) {
            try EmailAddress("\(String(repeating: "é", count: 33))@\(label).com")
        }
        #expect(throws: IdentifierFault.domain) { try EmailAddress("l@d\(label).com") }
        // 64 + 1 + 63 + 1 + 63 + 1 + 61 = 254
        let longest = "\(local)@\(label).\(label).\(label.dropLast(2))"
        #expect(try EmailAddress(" \(longest.uppercased()) ").text == longest)
        #expect(longest.utf8.count == 254)
        #expect(throws: IdentifierFault.tooLong) { try EmailAddress("\(local)@\(label).\(label).\(label.dropLast())") }
        // Short as it was entered, too long as A-labels.
        let dense = String(repeating: "例.", count: 40)
        #expect("l@\(dense)com".utf8.count < 254)
        #expect(throws: IdentifierFault.domain) { try EmailAddress("l@\(dense)com") }
        #expect(throws: IdentifierFault.tooLong) { try EmailAddress("l@\(String(repeating: "x", count: 60_000)).com") }
    }

    @Test func `every letter that has another form comes to one that stays`() throws {
        for value: UInt32 in 0x80...0x1ffff {
            guard let scalar = Unicode.Scalar(value), isFolded(scalar) else { continue }
            for entered in ["x\(scalar)y@example.com", "x\(scalar)\u{307}\u{345}@example.com", "\(scalar)@example.com"] {
                guard let once = try? EmailAddress(entered) else { continue }
                let twice = try EmailAddress(once.text)
                #expect(twice.text.utf8.elementsEqual(once.text.utf8), "U+\(String(value, radix: 16))")
                #expect(once.text.unicodeScalars.allSatisfy { $0.properties.lowercaseMapping == String($0) })
            }
        }
    }

    private func isFolded(_ scalar: Unicode.Scalar) -> Bool {
        let text = String(scalar)
        return scalar.properties.lowercaseMapping != text || !text.nfc.utf8.elementsEqual(text.utf8)
    }

    @Test func `the form of any text is its own form`() throws {
        var random = SeededGenerator(seed: 2_024)
        let letters: [Unicode.Scalar] = [
            "a", "b", "K", "z", "0", "9", ".", "-", "-", "_", "+", "@", " ", "\u{212a}", "\u{130}", "\u{131}", "\u{df}",
            "\u{1e9e}", "\u{3a3}", "\u{3c2}",
            "\u{345}", "\u{301}", "\u{308}", "\u{307}", "\u{338}", "\u{fb00}", "\u{1f88}", "\u{13a0}", "\u{ab70}", "\u{ff21}",
            "\u{fc}", "\u{dc}", "\u{ad}",
            "\u{200d}", "\u{3002}", "\u{4f8b}", "\u{5d0}", "\u{627}", "\u{660}", "\u{1f}", "\u{0}", "\u{ac00}", "\u{1100}",
            "\u{1161}", "\u{10400}", "\u{1c4}",
            "=", "\u{d4e}", "\u{e33}",
        ]
        var accepted = 0
        for _ in 0..<4_000 {
            func part(_ length: ClosedRange<Int>) -> String {
                var text = String.UnicodeScalarView()
                for _ in 0..<Int.random(in: length, using: &random) {
                    let isPlain = Bool.random(using: &random)
                    text.append(
                        isPlain
                            ? ["a", "K", "ü"].randomElement(using: &random) ?? "a" : letters.randomElement(using: &random) ?? "a")
                }
                return String(text)
            }
            let prefix = Bool.random(using: &random) ? "xn--" : ""
            let entered = "\(part(0...6))@\(prefix)\(part(1...5)).\(part(1...3))"
            guard let once = try? EmailAddress(entered) else { continue }
            accepted += 1
            let twice = try EmailAddress(once.text)
            #expect(twice.text.utf8.elementsEqual(once.text.utf8), "\(entered.debugDescription)")
            let domain = once.text.unicodeScalars.drop { $0 != "@" }
            #expect(domain.allSatisfy { $0.isASCII })
            #expect(once.text.utf8.count <= 254)
            #expect(try EmailAddress(" \(once.text)\n") == once)
        }
        #expect(accepted > 400)
    }

    @Test func `composed and decomposed, capital and small are one address`() throws {
        for text in ["zoë.müller@straße.de", "ångström@ÖREBRO.se", "nguyễn@việt.vn"] {
            let address = try EmailAddress(text)
            #expect(try EmailAddress(text.decomposedStringWithCanonicalMapping) == address)
            #expect(try EmailAddress(text.decomposedStringWithCanonicalMapping.lowercased()) == address)
        }
        #expect(try EmailAddress("ZOË@X.DE") == EmailAddress("zoë@x.de"))
    }

    @Test func `is masked wherever it is printed`() throws {
        #expect(try EmailAddress("user@example.com").masked == "u***@e***.com")
        #expect(try EmailAddress("user@mail.example.co.uk").masked == "u***@m***.uk")
        #expect(try EmailAddress("ab@x.de").masked == "***@***.de")
        #expect("\(try EmailAddress("user@example.com"))" == "u***@e***.com")
        #expect("\([try EmailAddress("user@example.com")])" == "[u***@e***.com]")
        // One character to the eye, and one that takes the @ in.
        #expect(try EmailAddress("u\(String(repeating: "\u{301}\u{323}", count: 12))@example.com").masked.utf8.count < 20)
        #expect(try EmailAddress("user\u{d4e}@example.com").masked == "u***@e***.com")
    }

    @Test func `has a subject of its own kind`() throws {
        let routing = Routing(secret: Secret([UInt8](repeating: 1, count: 32)))
        let subject = try EmailAddress("User@Example.com ").subject(by: routing)
        #expect(subject == routing.subject(kind: .email, canonical: "user@example.com"))
        #expect(try Identifier("USER@example.com", for: .email).subject(by: routing) == subject)
    }
}
