import EventSchema
import HTTP

/// The device that a request comes from, where it belongs to the account that the request names: its budgets are its own.
struct KnownDevice: Sendable {
    static let header = "X-Device-Token"

    /// As it was presented.
    var token: String
    var digest: Digest

    static func isPresented(in request: Request) -> Bool { request.headers[header] != nil }

    /// `nil` where no token of a device of the account was presented. The look-up is the same for accounts that are not there.
    static func find(
        in request: Request, of account: AccountReference?, routing: Routing, devices: any DeviceDirectory
    ) async throws -> KnownDevice? {
        guard let text = request.headers[header], let token = ReferenceToken(text, kind: .device), routing.open(token) != nil
        else { return nil }
        let owner = try await devices.owner(of: token.digest)
        guard let owner, owner == account?.user else { return nil }
        return KnownDevice(token: text, digest: token.digest)
    }
}
