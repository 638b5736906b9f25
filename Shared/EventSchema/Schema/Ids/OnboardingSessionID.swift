/// The id of an onboarding session, as `session.id` in the answers of the onboarding endpoints.
public struct OnboardingSessionID: RoutedIdentifier {
    public static let maskLabel = "onboarding"

    public let uuid: UUIDBytes

    /// Any UUID: one that was not made by ``Routing`` names no session.
    public init(uuid: UUIDBytes) { self.uuid = uuid }
}
