import Foundation
import Testing

@testable import NotifierService

@Suite struct EncodedTextTests {
    // MARK: Quoted-printable

    @Test(
        arguments: [
            ("plain text, 1 < 2!", "plain text, 1 < 2!"), ("a=b", "a=3Db"), ("ä", "=C3=A4"), ("end \nnext", "end=20\r\nnext"),
            ("tab\t", "tab=09"), (".\n..", "=2E\r\n=2E."), ("", ""), ("a\n\nb\n", "a\r\n\r\nb\r\n"), ("\r", "=0D"),
            ("\u{7f}\0", "=7F=00"),
        ])
    func `bytes that would not survive are escaped`(text: String, encoded: String) {
        #expect(EncodedText.quotedPrintable(text) == encoded)
    }

    @Test func `long lines are broken, and come back whole`() {
        for text in [
            String(repeating: "word ", count: 100), String(repeating: "ä", count: 100), String(repeating: "x", count: 75),
            String(repeating: "x", count: 76), String(repeating: "x", count: 74) + "=", String(repeating: ". ", count: 90),
        ] {
            let encoded = EncodedText.quotedPrintable(text)
            #expect(
                encoded.split(separator: "\r\n").allSatisfy { $0.utf8.count <= 76 && !$0.hasPrefix(".") && !$0.hasSuffix(" ") })
            #expect(Self.decoded(encoded) == text)
        }
    }

    private static func decoded(_ text: String) -> String {
        var bytes: [UInt8] = []
        var rest = Array(text.replacing("=\r\n", with: "").utf8)[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "=") else {
                bytes.append(byte)
                continue
            }
            bytes.append(UInt8(String(decoding: rest.prefix(2), as: UTF8.self), radix: 16)!)
            rest = rest.dropFirst(2)
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    // MARK: Headers

    @Test(
        arguments: [
            ("Your code", "Your code"), ("Dein Bestätigungscode", "=?UTF-8?Q?Dein_Best=C3=A4tigungscode?="),
            ("=?UTF-8?Q?x?=", "=?UTF-8?Q?=3D=3FUTF=2D8=3FQ=3Fx=3F=3D?="), ("a\r\nb", "=?UTF-8?Q?a=0D=0Ab?="), ("", ""),
        ])
    func `what ASCII cannot say is an encoded word`(text: String, encoded: String) {
        #expect(EncodedText.header(text, after: 9) == encoded)
    }

    @Test func `long texts are several words, each of whole characters, on lines of at most 76 bytes`() {
        for text in [String(repeating: "ש", count: 60), String(repeating: "long ", count: 40), String(repeating: "😀", count: 30)]
        {
            let encoded = EncodedText.header(text, after: 9)
            let lines = "Subject: \(encoded)".split(separator: "\r\n")
            #expect(lines.count > 1)
            #expect(lines.allSatisfy { $0.utf8.count <= 76 })
            let words = encoded.split(separator: "\r\n ").map { word -> String in
                #expect(word.utf8.count <= 75)
                #expect(word.hasPrefix("=?UTF-8?Q?") && word.hasSuffix("?="))
                let inner = word.dropFirst("=?UTF-8?Q?".count).dropLast(2)
                return Self.decoded(String(inner).replacing("_", with: " "))
            }
            #expect(words.allSatisfy { !$0.unicodeScalars.contains("\u{fffd}") })
            #expect(words.joined() == text)
        }
    }
}
