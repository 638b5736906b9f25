/// Rules of the loop that simulations break, one at a time, to prove that they would notice.
enum LoopMutation: String, Sendable, CaseIterable {
    // What is told.
    /// Refusals are told though the head that they were decided on is not confirmed.
    case tellsWhatIsUncertain
    /// Only events of this very process are answered.
    case answersOnlyItsOwn
    /// Followers do not remember what a new owner must answer.
    case forgetsPredecessors
    /// Answers are told before the projection has what they tell of.
    case answersBeforeProjecting
    /// A refusal is told though another owner may have read the inboxes in another order.
    case takesOrderForGranted

    // What is decided.
    /// A command that comes again is decided again.
    case forgetsCommands
    /// No event names the refusals that it passes.
    case namesNoRefusals
    /// Decisions do not see the events that are on their way.
    case decidesOnConfirmedState
    /// Commands are decided after their budget.
    case ignoresBudgets
    /// The log's clock is taken to show what it showed when it was asked, however long the answer took.
    case guessesTheTime
    /// A decision's time may be before the last event's.
    case runsBackInTime

    // What is valid.
    /// An event is valid though it names another one than the head, if its number fits.
    case acceptsForks
    /// Any own event with the number of a pending one confirms it.
    case confirmsByNumber
    /// A foreign event does not end the speculation.
    case keepsItsSpeculation
    /// Two owners at once do not wait for each other.
    case neverGivesWay
    /// The head is not looked at again after an interruption.
    case overlooksTruncation

    // Where reading goes on.
    /// Offsets are committed though the decisions before them are not confirmed.
    case commitsTheUnconfirmed
    /// The projection's checkpoint is overwritten, whatever it is.
    case projectsBlindly
}
