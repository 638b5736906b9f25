import Testing

@testable import HTTP

@Suite struct AddressTests {
    @Test(arguments: [
        ("127.0.0.1", "127.0.0.1"), ("0.0.0.0", "0.0.0.0"), ("255.255.255.255", "255.255.255.255"),
        ("::1", "::1"), ("::", "::"), ("2001:DB8::1", "2001:db8::1"), ("2001:db8:0:0:1:0:0:1", "2001:db8::1:0:0:1"),
        ("1:2:3:4:5:6:7:8", "1:2:3:4:5:6:7:8"), ("1::", "1::"), ("1:0:3:0:0:0:7:8", "1:0:3::7:8"),
        ("2001:db8:0:1:1:1:1:1", "2001:db8:0:1:1:1:1:1"), ("64:ff9b::192.0.2.1", "64:ff9b::c000:201"),
        ("::ffff:192.0.2.7", "192.0.2.7"), ("::FFFF:c000:0207", "192.0.2.7"), ("1:2:3:4:5:6:7::", "1:2:3:4:5:6:7:0"),
    ])
    func `addresses are read and written in their shortest form`(text: String, written: String) throws {
        #expect(try #require(IPAddress(text)).description == written)
    }

    @Test(arguments: [
        "", "1", "1.2.3", "1.2.3.4.5", "256.1.1.1", "01.2.3.4", "1.2.3.+4", "1.2.3.4 ", " 1.2.3.4", "1.2.3.4:80", "[::1]",
        ":", ":::", "1:2:3:4:5:6:7", "1:2:3:4:5:6:7:8:9", "::1::", "12345::", "g::", "1:2:3:4:5:6:7:8::", "::1.2.3", "::1%eth0",
        "1.2.3.4::", "localhost", "0x7f.1", "1..2.3", "::-1", "1:2:3:4:5:6:1.2.3.4:5",
    ])
    func `malformed addresses are refused`(text: String) {
        #expect(IPAddress(text) == nil)
    }

    @Test func `bytes and text agree`() {
        #expect(IPAddress(bytes: [192, 0, 2, 7]) == IPAddress("192.0.2.7"))
        #expect(IPAddress("192.0.2.7")?.bytes == [192, 0, 2, 7])
        let mapped: [UInt8] = Array(repeating: 0, count: 10) + [0xff, 0xff, 192, 0, 2, 7]
        #expect(IPAddress(bytes: mapped) == IPAddress("192.0.2.7"))
        #expect(IPAddress("2001:db8::1")?.bytes.count == 16)
        #expect(IPAddress(bytes: [1, 2, 3]) == nil)
    }

    @Test func `IPv6 counts by its network, IPv4 by itself`() {
        #expect(IPAddress("2001:db8:1:2:3:4:5:6")?.network == IPAddress("2001:db8:1:2::"))
        #expect(IPAddress("192.0.2.7")?.network == IPAddress("192.0.2.7"))
    }

    @Test func `blocks contain what their prefix says`() throws {
        let private10 = try #require(AddressBlock("10.0.0.0/8"))
        #expect(private10.contains(.init("10.255.0.1")!))
        #expect(private10.contains(.init("::ffff:10.1.2.3")!))
        #expect(!private10.contains(.init("11.0.0.0")!))
        #expect(!private10.contains(.init("a00::1")!))
        let everything = try #require(AddressBlock("0.0.0.0/0"))
        #expect(everything.contains(.init("255.1.2.3")!))
        #expect(!everything.contains(.init("::1")!))
        let one = try #require(AddressBlock("192.0.2.7"))
        #expect(one.contains(.init("192.0.2.7")!))
        #expect(!one.contains(.init("192.0.2.6")!))
        let local = try #require(AddressBlock("fd00::/8"))
        #expect(local.contains(.init("fdff:1::2")!))
        #expect(!local.contains(.init("fe00::")!))
        let long = try #require(AddressBlock("2001:db8::8000:0:0:0/65"))
        #expect(long.contains(.init("2001:db8::ffff:1:2:3")!))
        #expect(!long.contains(.init("2001:db8::7fff:1:2:3")!))
        #expect(try #require(AddressBlock("::1/128")).contains(.loopbackV6))
        #expect(try #require(AddressBlock("::/0")).contains(.loopbackV6))
    }

    @Test func `bits behind the prefix do not count, and mapped blocks are of IPv4`() {
        #expect(AddressBlock("10.1.2.3/8") == AddressBlock("10.0.0.0/8"))
        #expect(AddressBlock("2001:db8::1/32") == AddressBlock("2001:db8::/32"))
        #expect(AddressBlock("::ffff:10.0.0.0/104") == AddressBlock("10.0.0.0/8"))
    }

    @Test(arguments: [
        "10.0.0.0/33", "10.0.0.0/-1", "10.0.0.0/", "10.0.0.0/8/8", "::/129", "/8", "x/8", "10.0.0.0/ 8", "::ffff:10.0.0.0/8",
    ])
    func `malformed blocks are refused`(text: String) {
        #expect(AddressBlock(text) == nil)
    }
}

@Suite struct ClientAddressTests {
    private let trusted = ["10.0.0.0/8", "127.0.0.1", "fd00::/8"].map { AddressBlock($0)! }

    private func address(_ lines: [String], peer: String = "127.0.0.1", trusting proxies: [AddressBlock]? = nil) -> String {
        var request = Request(method: .get, path: RequestPath("/")!, peer: IPAddress(peer)!)
        for line in lines { request.headers.append("x-forwarded-for", line) }
        return request.clientAddress(trusting: proxies ?? trusted).description
    }

    @Test func `the peer counts where it is no trusted proxy`() {
        #expect(address(["203.0.113.9"], peer: "198.51.100.1") == "198.51.100.1")
        #expect(address(["203.0.113.9"], trusting: []) == "127.0.0.1")
        #expect(address([]) == "127.0.0.1")
        #expect(address([""]) == "127.0.0.1")
    }

    @Test func `the right-most untrusted entry counts`() {
        #expect(address(["203.0.113.9"]) == "203.0.113.9")
        #expect(address(["1.1.1.1, 203.0.113.9"]) == "203.0.113.9")
        #expect(address(["1.1.1.1, 203.0.113.9, 10.0.0.5"]) == "203.0.113.9")
        #expect(address(["1.1.1.1,203.0.113.9\t, 10.0.0.5,10.9.9.9"]) == "203.0.113.9")
    }

    @Test func `several lines are joined in order`() {
        #expect(address(["1.1.1.1", "203.0.113.9"]) == "203.0.113.9")
        #expect(address(["1.1.1.1, 203.0.113.9", "10.0.0.5", "10.0.0.6"]) == "203.0.113.9")
    }

    @Test func `where all are trusted the left-most counts`() {
        #expect(address(["10.0.0.1, 10.0.0.2"]) == "10.0.0.1")
    }

    @Test func `a malformed entry ends the walk at the last good one`() {
        #expect(address(["203.0.113.9, unknown, 10.0.0.5"]) == "10.0.0.5")
        #expect(address(["203.0.113.9, , 10.0.0.5"]) == "10.0.0.5")
        #expect(address(["203.0.113.9, 10.0.0.5, _hidden"]) == "127.0.0.1")
        #expect(address(["203.0.113.9", "", "10.0.0.5"]) == "10.0.0.5")
        #expect(address(["203.0.113.9, 010.0.0.1"]) == "127.0.0.1")
    }

    @Test func `IPv6, mapped addresses, ports and brackets are read`() {
        #expect(address(["2001:db8::7"]) == "2001:db8::7")
        #expect(address(["[2001:db8::7]"]) == "2001:db8::7")
        #expect(address(["[2001:db8::7]:443"]) == "2001:db8::7")
        #expect(address(["203.0.113.9:1234"]) == "203.0.113.9")
        #expect(address(["203.0.113.9, ::ffff:10.0.0.1"]) == "203.0.113.9")
        #expect(address(["::ffff:203.0.113.9"]) == "203.0.113.9")
        #expect(address(["203.0.113.9, fd00::1"]) == "203.0.113.9")
        #expect(address(["203.0.113.9:99999"]) == "127.0.0.1")
        #expect(address(["203.0.113.9:"]) == "127.0.0.1")
        #expect(address(["[2001:db8::7"]) == "127.0.0.1")
        #expect(address(["[2001:db8::7]x"]) == "127.0.0.1")
        #expect(address(["[203.0.113.9]"]) == "127.0.0.1")
    }

    @Test func `a mapped peer is the IPv4 proxy`() {
        #expect(address(["203.0.113.9"], peer: "::ffff:127.0.0.1") == "203.0.113.9")
    }
}
