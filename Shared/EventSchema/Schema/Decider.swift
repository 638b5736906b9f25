/// The rules of one aggregate: no I/O, no clock, no randomness. Time, digests and random values arrive in the command.
///
/// The shape is Jérémie Chassaing's functional decider: what happened follows from a command and the state, the state
/// follows from what happened.
public protocol Decider: Sendable {
    associatedtype Command: Sendable
    associatedtype State: Sendable
    associatedtype Event: Sendable & Equatable
    associatedtype Refusal: Error & Equatable

    /// The state before the first event.
    static var initial: State { get }

    /// At most one event says all that the command did; `nil` when it changes nothing and succeeds.
    static func decide(_ command: Command, given state: State) throws(Refusal) -> Event?

    /// Folds an event into the state. It cannot fail: what is in the log has happened.
    static func evolve(_ state: inout State, with event: Event)
}
