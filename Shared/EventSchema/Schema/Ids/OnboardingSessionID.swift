/// The id of an onboarding session, as `session.id` in the answers of the onboarding endpoints.
public struct OnboardingSessionID: UUIDIdentifier {
    public let uuid: UUIDBytes

    public init(uuid: UUIDBytes) { self.uuid = uuid }

    /// 122 bits from the CSPRNG, as a version 4 UUID.
    public static func random() -> OnboardingSessionID { OnboardingSessionID(uuid: .random(version: 4)) }
}
