public import EventSchema
internal import IdentityDomain

/// What Identity decides on, with all that the decision takes but the time.
public struct IdentityInput: Sendable {
    var home: RoutingKey
    var action: Home.Action
    /// Who waits for the answer, and to what.
    var waiting: Waiting?
    /// What is handed out if the command succeeds.
    var tokens: SignInTokens?
    /// The token that the client presented.
    var presented: Presented?

    struct Waiting: Sendable {
        var address: ReplyAddress
        var command: MessageID
    }

    struct Presented: Sendable {
        var token: [UInt8]
        var digest: Digest
    }

    init(
        _ action: Home.Action, home: RoutingKey, waiting: Waiting? = nil, tokens: SignInTokens? = nil,
        presented: Presented? = nil
    ) {
        self.action = action
        self.home = home
        self.waiting = waiting
        self.tokens = tokens
        self.presented = presented
    }

    /// Ends what is over of the onboarding sessions of an identifier; nobody asks for it.
    public static func expireOnboarding(of subject: Subject) -> IdentityInput {
        IdentityInput(.expireOnboarding(subject), home: subject.routingKey)
    }
}
