/// The course of a life: one random step after the other.
extension Life {
    /// Lives for a random number of steps, or until it is told to stop, or until nobody can tell what came of one.
    mutating func run(until isOver: Flag) async {
        for _ in 0..<Int.random(in: 6...24) {
            guard !isOver.isRaised, !self.isOver else { break }
            let before = lost
            await step()
            // As any client does, it lets the service get up again.
            if lost > before { try? await Task.sleep(for: .milliseconds(Int64.random(in: 50...300))) }
        }
    }

    private mutating func step() async {
        let dice = Int.random(in: 0..<100)
        guard user != nil else {
            switch dice {
            case ..<8: await confirmAddress()
            case ..<14: await logInWrongly()
            case ..<20: await junk()
            case ..<55: await register()
            default: await onboard(Order.allCases.randomElement()!)
            }
            return
        }
        guard let session = live.randomElement() else {
            switch dice {
            case ..<10: await resetPassword()
            case ..<20: await logInWrongly()
            default: await logIn()
            }
            return
        }
        switch dice {
        case ..<14: await logIn()
        case ..<19: await logInWrongly()
        case ..<37: await refresh(session)
        case ..<42: await reuse(session)
        case ..<56: await look(with: session)
        case ..<62: if let session = ended.randomElement() { await lookInVain(with: session) }
        case ..<65: if let session = ended.randomElement() { await refreshEnded(session) }
        case ..<70: await rename(in: session)
        case ..<74: await logOut(of: session)
        case ..<76: await logOutEverywhere(in: session)
        case ..<81: await changePassword(in: session)
        case ..<84: await failCheck(in: session)
        case ..<88: await resetPassword()
        case ..<91: await confirmAddress()
        case ..<93: await register()
        case ..<94: await onboard(.never)
        case ..<96: await junk()
        default: await erase(in: session)
        }
    }
}
