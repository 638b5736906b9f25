import HTTP
import Runtime
import Testing

@testable import GatewayService

@Test(arguments: ["192.0.2.17", "10.1.0.255", "::1", "2001:db8::7", "::ffff:192.0.2.17"])
func `an address has the outline that its text has`(text: String) throws {
    let address = try #require(IPAddress(text))
    #expect(address.outline == Mask.outline(of: address.description))
}
