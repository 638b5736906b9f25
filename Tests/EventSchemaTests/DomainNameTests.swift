import Testing

@testable import Identifiers

struct DomainNameTests {
    /// Names in plain ASCII never see the library; it has to agree.
    @Test(arguments: ["example.com", "a.b.c.d", "3com.com", "a-b.de", "sub.example.co.uk", "x1.y2"])
    func `plain names are what the library makes of them`(name: String) throws {
        #expect(try DomainName.ascii(name) == name)
        #expect(try DomainName.ascii("ü.\(name)") == "xn--tda.\(name)")
    }

    /// Unicode TR #46, non-transitional: what differs between old and new rules stays itself.
    @Test(arguments: [
        ("faß.de", "xn--fa-hia.de"), ("βόλος.com", "xn--nxasmm1c.com"), ("ශ්‍රී.com", "xn--10cl1a0b660p.com"),
        ("königsgäßchen.de", "xn--knigsgchen-b4a3dun.de"), ("bücher.example", "xn--bcher-kva.example"),
        ("рф.рф", "xn--p1ai.xn--p1ai"),
    ])
    func `names in other scripts become A-labels`(name: String, ascii: String) throws {
        #expect(try DomainName.ascii(name) == ascii)
        #expect(try DomainName.ascii(ascii) == ascii)
    }

    @Test func `labels and names have the lengths of RFC 1035`() throws {
        let label = String(repeating: "a", count: 63)
        #expect(throws: Never.self) { try DomainName.ascii("\(label).de") }
        #expect(throws: IdentifierFault.domain) { try DomainName.ascii("a\(label).de") }
        #expect(throws: Never.self) { try DomainName.ascii("\(label).\(label).\(label).\(label.dropLast(2))") }
        #expect(throws: IdentifierFault.domain) { try DomainName.ascii("\(label).\(label).\(label).\(label.dropLast())") }
        #expect(throws: IdentifierFault.domain) { try DomainName.ascii("ü\(label).de") }
    }

    @Test func `capitals behind an A-label do not make a second name`() throws {
        // xn--4ca is ä; its capital would be xn--7ba.
        #expect(try DomainName.ascii("xn--4ca.de") == DomainName.ascii("ä.de"))
        #expect(throws: IdentifierFault.domain) { try DomainName.ascii("xn--7ba.de") }
    }
}
