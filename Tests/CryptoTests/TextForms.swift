import Foundation
import Testing

@testable import Crypto

@Suite struct TextForms {
    /// RFC 4648, section 10, without padding; and the two characters in which the alphabets differ.
    static let base64: [([UInt8], String)] = [
        ([], ""), (Array("f".utf8), "Zg"), (Array("fo".utf8), "Zm8"), (Array("foo".utf8), "Zm9v"),
        (Array("foob".utf8), "Zm9vYg"), (Array("fooba".utf8), "Zm9vYmE"), (Array("foobar".utf8), "Zm9vYmFy"),
        ([0xfb, 0xff, 0xbf], "-_-_"), ([0xff], "_w"), ([0xfb, 0xf0], "-_A"),
    ]

    @Test(arguments: base64) func `Base64URL of known bytes`(bytes: [UInt8], text: String) {
        #expect(Base64URL.encode(bytes) == text)
        #expect(Base64URL.decode(text) == bytes)
    }

    @Test(arguments: [
        "Zg==", "Zm8=", "=", "Zg=", "Z", "Zm9vY", "Zm9v Zm9v", " Zm9v", "Zm9v\n", "+/+/", "Zm9v\0", "\0", "Zm9é", "Zm.v", "Zm9v=",
        "a===",
        // Bits left over: "Zg" and "Zm8" are the only ways to write these bytes.
        "Zh", "Zv", "Zm9", "Zm_",
    ])
    func `what Base64URL never writes is refused`(text: String) {
        #expect(Base64URL.decode(text) == nil)
    }

    @Test(arguments: [([], ""), ([0x00], "00"), ([0xde, 0xad, 0xbe, 0xef, 0x09], "deadbeef09")] as [([UInt8], String)])
    func `Hex of known bytes`(bytes: [UInt8], text: String) {
        #expect(Hex.encode(bytes) == text)
        #expect(Hex.decode(text) == bytes)
        #expect(Hex.decode(text.uppercased()) == bytes)
    }

    @Test(arguments: ["0", "000", "0g", "0x00", " 00", "00 ", "0 0", "00\0", "é0", "-1"]) func `what is not Hex is refused`(
        text: String
    ) {
        #expect(Hex.decode(text) == nil)
    }

    @Test(arguments: 0..<200) func `random bytes of every length come back`(count: Int) {
        let bytes = Random.bytes(count)
        let base64 = Base64URL.encode(bytes)
        #expect(Base64URL.decode(base64) == bytes)
        let other = Data(bytes).base64EncodedString().replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
        #expect(base64 == other)
        #expect(base64.utf8.count == (count * 4 + 2) / 3)
        #expect(Hex.decode(Hex.encode(bytes)) == bytes)
    }

    /// Texts are read sixteen characters at a time.
    @Test(arguments: 0..<41) func `a character that is none is seen wherever it stands`(place: Int) {
        let alphabet = Set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)
        // The last character of 42 and 43 stays an A: others may leave bits over.
        for count in [40, 42, 43] where place < count - 1 {
            for byte in UInt8.min...UInt8.max {
                var text = [UInt8](repeating: UInt8(ascii: "A"), count: count)
                text[place] = byte
                let bytes = Base64URL.decode(text)
                #expect((bytes != nil) == alphabet.contains(byte), "\(byte) at \(place) of \(count)")
                if let bytes { #expect(Base64URL.encode(bytes) == String(decoding: text, as: UTF8.self)) }
                guard byte < 0x80 else { continue }
                #expect(Base64URL.count(of: String(decoding: text, as: UTF8.self)[...]) == bytes?.count)
            }
        }
    }

    /// Every text of two and three characters: accepted if and only if it is the text of what it decodes to.
    @Test func `no two texts stand for the same bytes`() {
        let characters = Array("AZaz09-_/+= ".unicodeScalars).map(String.init)
        for first in characters {
            for second in characters {
                for third in characters + [""] {
                    let text = first + second + third
                    if let bytes = Base64URL.decode(text) { #expect(Base64URL.encode(bytes) == text) }
                }
            }
        }
    }
}
