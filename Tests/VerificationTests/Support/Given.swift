import EventSchema
import Testing

/// What has happened to one aggregate: the first part of a test of its rules.
///
///     Given<Challenge>(.issued(at: noon)).when(.enter("000000", at: noon)).then(.missed(at: noon))
struct Given<Rules: Decider> {
    let state: Rules.State

    init(_ events: Rules.Event..., from initial: Rules.State = Rules.initial) { self.init(events, from: initial) }

    init(_ events: [Rules.Event], from initial: Rules.State = Rules.initial) {
        state = events.reduce(into: initial) { Rules.evolve(&$0, with: $1) }
    }

    func when(_ command: Rules.Command) -> Decided<Rules> {
        do throws(Rules.Refusal) {
            return Decided(state: state, result: .success(try Rules.decide(command, given: state)))
        } catch {
            return Decided(state: state, result: .failure(error))
        }
    }
}

/// What a command came to.
struct Decided<Rules: Decider> {
    let state: Rules.State
    let result: Result<Rules.Event?, Rules.Refusal>

    @discardableResult
    func then(_ event: Rules.Event, sourceLocation: SourceLocation = #_sourceLocation) -> Given<Rules> {
        #expect(result == .success(event), sourceLocation: sourceLocation)
        return Given([event], from: state)
    }

    @discardableResult
    func thenRefused(_ refusal: Rules.Refusal, sourceLocation: SourceLocation = #_sourceLocation) -> Given<Rules> {
        #expect(result == .failure(refusal), sourceLocation: sourceLocation)
        return Given(from: state)
    }
}
