import Testing

@testable import HTTP

@Suite struct MessageTests {
    @Test func `segments are decoded one by one`() {
        #expect(RequestPath("/")?.segments == [""])
        #expect(RequestPath("/a/b")?.segments == ["a", "b"])
        #expect(RequestPath("/a//b/")?.segments == ["a", "", "b", ""])
        #expect(RequestPath("/a%2Fb/c%20d")?.segments == ["a/b", "c d"])
        #expect(RequestPath("/%C3%A9+")?.segments == ["é+"])
        #expect(RequestPath("/...")?.segments == ["..."])
        #expect(RequestPath("/%2e%2e%2e")?.segments == ["..."])
    }

    @Test(arguments: [
        "", "a", "/%", "/%4", "/%zz", "/%00", "/a/../b", "/..", "/.", "/%2e", "/%2E%2e/x", "/.%2e", "/%ff", "/%0a", "/%7f",
        "/%c0%ae",
    ])
    func `ambiguous paths are refused`(path: String) {
        #expect(RequestPath(path) == nil)
    }

    @Test func `queries keep order and repetition`() throws {
        let query = try #require(Query("a=1&b=x+y%26z&a=2&flag&=v&&c=a=b"))
        #expect(query["a"] == "1")
        #expect(query.values("a") == ["1", "2"])
        #expect(query["b"] == "x y&z")
        #expect(query["flag"] == "")
        #expect(query[""] == "v")
        #expect(query["c"] == "a=b")
        #expect(query["A"] == nil)
        #expect(Query("")?.items.isEmpty == true)
        #expect(Query("a=%0") == nil)
        #expect(Query("a=%00") == nil)
        #expect(Query("%ff=1") == nil)
    }

    @Test func `header names compare without case and keep their order`() {
        var headers: Headers = ["Accept": "a", "X-Tag": "1"]
        headers.append("x-tag", "2")
        headers.append("Via", "v")
        #expect(headers["X-TAG"] == "1")
        #expect(headers.values("x-tag") == ["1", "2"])
        #expect(headers.count(of: "X-Tag") == 2)
        headers["X-TAG"] = "3"
        #expect(headers.map(\.name) == ["Accept", "X-Tag", "Via"])
        #expect(headers.values("x-tag") == ["3"])
        headers["accept"] = nil
        #expect(!headers.contains("Accept"))
        headers.setDefault("via", "w")
        #expect(headers["Via"] == "v")
        headers.appendToken("Vary", "Origin")
        headers.appendToken("vary", "Accept")
        headers.appendToken("Vary", "origin")
        #expect(headers["Vary"] == "Origin, Accept")
        // `@` and backtick differ from each other by the bit that tells cases apart.
        #expect(Headers(dictionaryLiteral: ("a@", "x"))["a`"] == nil)
    }

    @Test(arguments: ["a", "A-Z.0_9", String(repeating: "x", count: 64)])
    func `a client's request id is taken`(id: String) {
        #expect(RequestID.of(["X-Request-Id": id]) == id)
    }

    @Test(arguments: ["", "a b", "a\"", "é", String(repeating: "x", count: 65), "a\n"])
    func `another request id is replaced by a random one`(id: String) {
        let made = RequestID.of(["X-Request-Id": id])
        #expect(made != id)
        #expect(RequestID.isValid(made))
        #expect(made != RequestID.of([:]))
    }

    @Test func `statuses that allow no body are known`() {
        #expect(!HTTPStatus.noContent.allowsBody)
        #expect(!HTTPStatus.notModified.allowsBody)
        #expect(HTTPStatus.ok.allowsBody)
    }
}
