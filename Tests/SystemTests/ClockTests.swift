import Testing

extension SystemTests {
    /// Clocks are wrong, and are set.
    @Suite(.enabled(if: WallClock.compiler != nil, "needs a C compiler, for a clock that can be set")) struct ClockTests {
        private static let names = ["gateway", "verification", "identity", "notifier"]

        /// The whole way of a code, by somebody new.
        private func serves(_ system: LatchkeySystem, _ when: Comment) async throws {
            let visitor = Visitor(system)
            let sent = try await visitor.send()
            #expect(sent.isSuccess, "\(when): \(sent)")
            let confirmed = try await visitor.confirm(visitor.code())
            #expect(confirmed.isSuccess, "\(when): \(confirmed)")
        }

        /// Waits until a code is delivered. In the moment of a jump new keys may be needed first, or a delivery taken for late.
        private func servesAgain(_ system: LatchkeySystem) async throws {
            try await eventually("codes are delivered again", within: .seconds(30)) {
                let visitor = Visitor(system)
                guard try await visitor.send().isSuccess else { return false }
                let end = ContinuousClock.now + .seconds(3)
                while ContinuousClock.now < end {
                    if try system.deliveries(to: visitor.email).count == 1 { return true }
                    try await Task.sleep(for: .milliseconds(20))
                }
                return false
            }
        }

        @Test func `services are served by the log's clock, whatever theirs say`() async throws {
            let outer = try LatchkeySystem()
            defer { outer.discard() }
            let clock = try await WallClock(in: outer.folder)
            let wrappers = try clock.wrapped(Self.names, in: LatchkeySystem.executables)
            // A first start on a machine whose clock is far behind: even the first keys are the log's.
            try clock.set(ahead: .hours(-8))
            let system = try await LatchkeySystem.started(["LATCHKEY_BIN": wrappers])
            try await serves(system, "started eight hours behind")
            for hours in [0, -3, 26, 50, -30, 24 * 400, -24 * 400] {
                let visitor = Visitor(system)
                #expect(try await visitor.send().isSuccess)
                let code = try await visitor.code()
                try clock.set(ahead: .hours(hours))
                let confirmed = try await visitor.confirm(code)
                #expect(confirmed.isSuccess, "a code from before the clock went to \(hours) h: \(confirmed)")
                try await serves(system, "\(hours) h ahead")
            }
            #expect(await system.isReady())
            #expect(try await system.unaskedEnds() == [])
            try await system.end()
        }

        @Test(arguments: [60, -60, 3_600, -3_600, 3 * 86_400, -3 * 86_400])
        func `the clock of the whole machine jumps, the log's too`(seconds: Int) async throws {
            let outer = try LatchkeySystem()
            defer { outer.discard() }
            let clock = try await WallClock(in: outer.folder)
            let system = try await LatchkeySystem.started(clock.environment)
            // In some partitions there is something from before, in others nothing.
            for _ in 0..<12 { try await serves(system, "before") }
            let visitor = Visitor(system)
            #expect(try await visitor.send().isSuccess)
            let code = try await visitor.code()

            try clock.set(ahead: .seconds(seconds))
            let confirmed = try await visitor.confirm(code)
            if abs(seconds) < 120 {
                #expect(confirmed.isSuccess, "\(confirmed)")
            } else {
                // Nobody can tell how old it is.
                #expect(confirmed.error == "INVALID_OTP", "\(confirmed)")
            }
            try await servesAgain(system)
            for _ in 0..<6 { try await serves(system, "after") }
            try clock.set(ahead: .zero)
            try await servesAgain(system)
            for _ in 0..<6 { try await serves(system, "set right") }
            #expect(try await system.unaskedEnds() == [])
            try await system.end()
        }
    }
}

extension Duration {
    fileprivate static func hours(_ count: Int) -> Duration { .seconds(count * 3_600) }
}
