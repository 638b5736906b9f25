import Crypto
import EventSchema
import Foundation
import Synchronization
import Testing

@testable import Identifiers

struct PhoneNumberTests {
    private static let germany = PhoneNumber.Region("DE")
    private static let america = PhoneNumber.Region("US")

    @Test(arguments: [
        "+49 30 901820", "0049 30 901820", "004930901820", "+4930901820", "030 901820", "030/90 18 20", "(030) 901820",
        "+49 (0)30 901820", "030-901820",
        " 030.901820\n", "+49\u{a0}30\u{2011}901820", "＋49 30 901820", "٠٣٠٩٠١٨٢٠", "０３０９０１８２０", "(+49) 30 901820",
    ])
    func `one number has one form`(entered: String) throws {
        let number = try PhoneNumber(entered, region: Self.germany)
        #expect(number.text == "+4930901820")
        #expect(try PhoneNumber(number.text) == number)
    }

    @Test(arguments: [
        ("+12025550148", "+12025550148"), ("(202) 555-0148", "+12025550148"), ("1-202-555-0148", "+12025550148"),
        ("011 49 30 901820", "+4930901820"),
        ("+39 06 1234 5678", "+390612345678"), ("+44 20 7946 0018", "+442079460018"), ("+33 6 12 34 56 78", "+33612345678"),
    ])
    func `numbers of all countries are read, with a region for those without a code`(entered: String, e164: String) throws {
        #expect(try PhoneNumber(entered, region: Self.america).text == e164)
    }

    @Test(arguments: [
        "", "  ", "+", "12", "911", "030 901820", "(202) 555-0148", "12025550148", "+1", "+15555550100", "+999 12345678",
        "+0 2025550148", "++12025550148",
        "+1+2025550148", "12025550148+", "+1202555014", "+120255501480", "+12025550148\u{0}", "+1202\u{0}5550148", "\u{0}",
        "+1 202 555 0148 x12",
        "+12025550148;ext=12", "tel:+12025550148", "+1-800-FLOWERS", "call +12025550148", "+12025550148 or so", "+1*2025550148",
        "+1#2025550148",
        "+12025550148/+12025550149", "+1202555\n0148", "+1202555\u{200b}0148", "½02 555 0148", "+1²2025550148",
        "user@example.com",
    ])
    func `nothing else is a number without a region`(entered: String) {
        #expect(throws: IdentifierFault.self) { try PhoneNumber(entered) }
    }

    @Test func `a number too long to be one is refused at once`() {
        #expect(throws: IdentifierFault.phoneNumber) { try PhoneNumber("+" + String(repeating: "1", count: 60_000)) }
        #expect(throws: IdentifierFault.phoneNumber) { try PhoneNumber("+" + String(repeating: "-", count: 60_000)) }
    }

    @Test func `a region is one that is known`() {
        #expect(PhoneNumber.Region("us")?.code == "US")
        for code in ["", "U", "USA", "XX", "ZZ", "U1", "1", "ü", "\u{0}\u{0}", "DE\u{0}"] {
            #expect(PhoneNumber.Region(code) == nil)
        }
    }

    @Test func `is masked wherever it is printed`() throws {
        let number = try PhoneNumber("+12025550148")
        #expect(number.masked == "+12***48")
        #expect("\(number) \([number]) \(Identifier.phone(number))" == "+12***48 [+12***48] +12***48")
    }

    @Test func `has a subject of its own kind`() throws {
        let routing = Routing(secret: Secret([UInt8](repeating: 1, count: 32)))
        let number = try Identifier("(202) 555-0148", for: .sms, region: Self.america)
        #expect(number.channel == .sms)
        #expect(number.subject(by: routing) == routing.subject(kind: .phone, canonical: "+12025550148"))
    }

    @Test func `many threads may read numbers at once`() {
        let wrong = Atomic(0)
        DispatchQueue.concurrentPerform(iterations: 8) { thread in
            for index in 0..<50 {
                let digits = 1_000 + (thread * 50 + index) % 9_000
                let region = index.isMultiple(of: 2) ? Self.america : Self.germany
                let expected = "+1202555\(digits)"
                let read = try? PhoneNumber(
                    index.isMultiple(of: 2) ? "(202) 555-\(digits)" : "001 202 555 \(digits)", region: region)
                if read?.text != expected { wrong.add(1, ordering: .relaxed) }
            }
        }
        #expect(wrong.load(ordering: .relaxed) == 0)
    }
}
