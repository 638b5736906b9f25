import JSON
import Testing

extension SystemTests {
    /// Rules for codes that are tried on systems with settings of their own.
    @Suite struct CodeSettingsTests {
        @Test func `the twenty-first send of a day answers like the others and sends nothing`() async throws {
            let system = try await LatchkeySystem.started(["VERIFICATION_SENDS": "100/15m", "LIMIT_SEND": "off"])
            let visitor = Visitor(system)
            for _ in 0..<21 {
                let answer = try await visitor.send()
                #expect(answer.status == 200)
                #expect(answer.body == ["success": true, "data": ["expiresIn": 300]])
            }
            // What comes after the last in the same partition shows that it is done.
            let code = try await visitor.code(after: 20)
            #expect(try await visitor.confirm(code).isSuccess)
            #expect(try system.deliveries(to: visitor.email).count == 20)
            // Of another one nothing is used up.
            #expect(try await Visitor(system).send().isSuccess)
            try await system.end()
        }

        @Test func `fifteen wrong codes in an hour are all, whatever number of codes was sent`() async throws {
            let system = try await LatchkeySystem.started(
                ["VERIFICATION_SENDS": "100/15m", "LIMIT_CONFIRM": "off"], scale: ["verification": 2])
            let visitor = Visitor(system)
            for number in 1...5 {
                #expect(try await visitor.send().isSuccess)
                let wrong = Visitor.wrong(try await visitor.code(after: number))
                for expected in ["INVALID_OTP", "INVALID_OTP", "MAX_ATTEMPTS_EXCEEDED"] {
                    #expect(try await visitor.confirm(wrong).error == expected)
                }
            }
            #expect(try await visitor.send().isSuccess)
            let right = try await visitor.code(after: 6)
            // A restart gives nothing back.
            try await system.down()
            try await system.up()
            for _ in 0..<2 { #expect(try await visitor.confirm(right).error == "MAX_ATTEMPTS_EXCEEDED") }
            // The budget is one for each address.
            let other = Visitor(system)
            #expect(try await other.send().isSuccess)
            #expect(try await other.confirm(other.code()).isSuccess)
            try await system.end()
        }

        @Test func `an expired code is gone`() async throws {
            let system = try await LatchkeySystem.started(["VERIFICATION_CODE_LIFETIME": "2s"])
            let visitor = Visitor(system)
            let sent = try await visitor.send()
            #expect(sent.body == ["success": true, "data": ["expiresIn": 2]])
            let code = try await visitor.code()
            let delivered = ContinuousClock.now
            // A wrong code says nothing about its age.
            #expect(try await visitor.confirm(Visitor.wrong(code)).error == "INVALID_OTP")
            try await eventually("the code has expired") { ContinuousClock.now > delivered + .seconds(2) }
            #expect(try await visitor.confirm(code).error == "INVALID_OTP")
            #expect(try await visitor.send().isSuccess)
            try await system.end()
        }
    }
}
