/// Rules of the loop that simulations break, one at a time, to prove that they would notice.
enum LoopMutation: String, Sendable, CaseIterable {
    /// Refusals are told though the head that they were decided on is not confirmed.
    case tellsWhatIsUncertain
    /// A command that comes again is decided again.
    case forgetsCommands
    /// Only events of this very process are answered.
    case answersOnlyItsOwn
    /// Decisions do not see the events that are on their way.
    case decidesOnConfirmedState
    /// No event names the refusals that it passes.
    case namesNoRefusals
}
