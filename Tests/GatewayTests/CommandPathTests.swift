import Crypto
import EventLog
import EventSchema
import HTTP
import JSON
import Runtime
import Synchronization
import Testing

@testable import GatewayService

/// A gateway whose commands go over a log.
private struct LoggedGateway {
    let log: LoopbackLog
    let keys: FakeKeys
    let authenticator: RecordAuthenticator
    let metrics = Metrics()
    let readiness = Readiness()
    let logs = LogRecorder()
    let reader: ReplyReader
    let gateway: TestGateway

    init(
        partitions: Int = 4, expected: Int = 4, deadline: Duration = .seconds(60), keys: FakeKeys = FakeKeys(),
        answers: any AnswerStore = ModelAnswers(), log: LoopbackLog? = nil
    ) throws {
        self.log = log ?? LoopbackLog(partitions: partitions)
        self.keys = keys
        authenticator = try RecordAuthenticator(keys: [3: Secret(Array(repeating: 5, count: 32))])
        reader = ReplyReader(
            log: self.log, authenticator: authenticator, partitions: expected, time: LogTime(),
            logger: Logger(service: "gateway", level: .debug, sink: logs), metrics: metrics, readiness: readiness)
        let sender = CommandSender(
            replies: reader, authenticator: authenticator, keys: keys, sealer: BoxSealer(), metrics: metrics)
        gateway = TestGateway(
            keys: keys, deadline: deadline, answers: answers, peer: IPAddress("192.0.2.7")!, commands: sender)
    }

    /// Calls `body` while replies are read.
    func running(_ body: () async throws -> Void) async throws {
        let run = Task { try await reader.run() }
        try await wait { reader.link.current != nil }
        let result = await Result { try await body() }
        run.cancel()
        try await run.value
        try result.get()
    }

    func wait(for condition: () async throws -> Bool) async throws {
        while try await !condition() { try await Task.sleep(for: .milliseconds(1)) }
    }

    /// An owner's answer.
    func reply(_ outcome: Reply.Outcome, to command: OutgoingRecord, by other: RecordAuthenticator? = nil) -> OutgoingRecord {
        let address = ReplyAddress(encoded: command.text(HeaderName.replyTo)!)!
        let message = SchemaCodec.current.encode(Reply(outcome: outcome, data: outcome == .ok ? ["expiresIn": 300] : nil))
        let headers = [
            Header(HeaderName.specVersion, "1.0"), Header(HeaderName.id, MessageID.random().text),
            Header(HeaderName.type, message.type), Header(HeaderName.source, "/verification"),
            Header(HeaderName.causation, command.text(HeaderName.id)!), Header(HeaderName.replyTo, address.encoded),
        ]
        return (other ?? authenticator).sealed(
            OutgoingRecord(
                partition: TopicPartition(.replies, Int(address.partition)), key: address.process, headers: headers,
                value: message.data))
    }
}

extension OutgoingRecord {
    fileprivate func text(_ name: String) -> String? {
        headers.first { $0.name == name }.map { String(decoding: $0.value, as: UTF8.self) }
    }
}

@Suite struct `A command` {
    @Test func `is a CloudEvent under the log's MAC, where its subject belongs`() async throws {
        let gateway = try LoggedGateway()
        gateway.log.respond { [gateway.reply(.ok, to: $0)] }
        try await gateway.running {
            let response = await gateway.gateway.send(
                TestGateway.send,
                headers: ["traceparent": "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", "User-Agent": "App/1.0"])
            #expect(response.text == #"{"success":true,"data":{"expiresIn":300}}"#)
        }
        let record = try #require(gateway.log.appended.first)
        let subject = gateway.gateway.subject("user@example.com")
        #expect(record.key == subject.routingKey.bytes)
        #expect(record.partition == TopicPartition(.verificationCommands, subject.routingKey.partition(among: 4)))
        #expect(record.text(HeaderName.specVersion) == "1.0")
        #expect(record.text(HeaderName.type) == "latchkey.verification.issue-code.v1")
        #expect(record.text(HeaderName.source) == "/gateway")
        #expect(record.text(HeaderName.subject) == subject.base64url)
        #expect(record.text(HeaderName.contentType) == "application/json")
        #expect(record.text(HeaderName.remember) == nil)
        #expect(record.text(HeaderName.traceParent)?.hasPrefix("00-0af7651916cd43dd8448eb211c80319c-") == true)
        #expect(record.text(HeaderName.time).flatMap(Timestamp.init(rfc3339:)) != nil)
        let budget = try #require(record.text(HeaderName.budget).flatMap { Int($0) })
        #expect((1...60_000).contains(budget))
        let stored = Record(
            partition: record.partition, offset: 0, time: Timestamp(milliseconds: 0), key: record.key, headers: record.headers,
            value: record.value)
        #expect(gateway.authenticator.verify(stored) == .authentic(key: 3))

        let command = try SchemaCodec.current.decode(IssueCode.self, type: record.text(HeaderName.type)!, data: record.value)
        #expect(command.subject == subject)
        let id = try #require(record.text(HeaderName.id).flatMap { MessageID($0) })
        let client = try #require(record.text(HeaderName.client).flatMap { Box(encoded: $0) })
        #expect(gateway.keys.open(client, SealingContext.client(of: id)) == #"{"address":"192.0.2.7","userAgent":"App/1.0"}"#)

        let bytes = record.key + record.headers.flatMap { Array($0.name.utf8) + $0.value } + record.value
        for secret in ["user@example.com", "user", "192.0.2.7", "App/1.0"] { #expect(!bytes.contains(Array(secret.utf8))) }
    }

    @Test func `goes without the client while Identity has no key`() async throws {
        let gateway = try LoggedGateway(keys: FakeKeys(without: [.identity]))
        gateway.log.respond { [gateway.reply(.ok, to: $0)] }
        try await gateway.running { #expect(await gateway.gateway.send(TestGateway.send).status == .ok) }
        #expect(gateway.log.appended.first?.text(HeaderName.client) == nil)
    }

    @Test func `is answered by its first authentic reply alone`() async throws {
        let gateway = try LoggedGateway()
        let forger = try RecordAuthenticator(keys: [3: Secret(Array(repeating: 6, count: 32))])
        gateway.log.respond { command in
            [
                gateway.reply(.ok, to: command, by: forger), gateway.reply(.invalidOTP, to: command),
                gateway.reply(.ok, to: command),
                gateway.reply(.invalidOTP, to: command),
            ]
        }
        try await gateway.running {
            for _ in 0..<3 { #expect(await gateway.gateway.confirm(TestGateway.confirm).code == "INVALID_OTP") }
            try await gateway.wait {
                let text = gateway.metrics.render()
                return text.contains(#"latchkey_gateway_replies_total{met="nobody"} 6"#)
            }
        }
        let text = gateway.metrics.render()
        #expect(text.contains(#"latchkey_gateway_replies_total{met="waiting"} 3"#))
        #expect(text.contains(#"latchkey_gateway_replies_rejected_total{reason="forged"} 3"#))
        #expect(text.contains("latchkey_gateway_pending_replies 0"))
    }

    @Test func `finds its own reply among many`() async throws {
        let gateway = try LoggedGateway()
        gateway.log.respond { command in
            let message = try? SchemaCodec.current.decode(
                EventSchema.ConfirmCode.self, type: command.text(HeaderName.type)!, data: command.value)
            let isOdd = message.map { $0.subject.bytes[0] & 1 == 1 } ?? false
            return [gateway.reply(isOdd ? .invalidOTP : .ok, to: command)]
        }
        try await gateway.running {
            await withTaskGroup(of: Void.self) { group in
                for index in 0..<200 {
                    group.addTask {
                        let address = "user\(index)@example.com"
                        let response = await gateway.gateway.confirm(
                            #"{"identifier":"\#(address)","code":"123456","purpose":"email_verification"}"#)
                        let isOdd = gateway.gateway.subject(address).bytes[0] & 1 == 1
                        #expect((response.status == .ok) != isOdd)
                    }
                }
            }
        }
    }

    @Test func `that the log does not take is not acknowledged`() async throws {
        let gateway = try LoggedGateway()
        gateway.log.fail(LogError(.unavailable, "no broker"))
        try await gateway.running {
            let response = await gateway.gateway.send(TestGateway.send)
            #expect(response.status == .serviceUnavailable)
            #expect(response.headers["Retry-After"] == "1")
            gateway.log.fail(nil)
            gateway.log.respond { [gateway.reply(.ok, to: $0)] }
            #expect(await gateway.gateway.send(TestGateway.send).status == .ok)
        }
        #expect(gateway.metrics.render().contains("latchkey_gateway_append_failures_total 1"))
    }

    @Test func `is not sent while the log is away, or replies are not read`() async throws {
        let gateway = try LoggedGateway()
        #expect(await gateway.gateway.send(TestGateway.send).status == .serviceUnavailable)
        #expect(!gateway.readiness.isReady)
        gateway.log.respond { [gateway.reply(.ok, to: $0)] }
        try await gateway.running {
            gateway.log.setAvailable(false)
            #expect(await gateway.gateway.send(TestGateway.send).status == .serviceUnavailable)
            #expect(gateway.log.appended.isEmpty)
            try await gateway.wait { !gateway.readiness.isReady }
            gateway.log.setAvailable(true)
            #expect(await gateway.gateway.send(TestGateway.send).status == .ok)
            try await gateway.wait { gateway.readiness.isReady }
        }
        #expect(await gateway.gateway.send(TestGateway.send).status == .serviceUnavailable)
    }

    @Test func `without a reply has an unknown outcome, and a late one is kept for who repeats it`() async throws {
        let answers = ModelAnswers()
        let hasty = try LoggedGateway(deadline: .milliseconds(300), answers: answers)
        let headers: Headers = ["Idempotency-Key": "k"]
        try await hasty.running {
            let response = await hasty.gateway.confirm(TestGateway.confirm, headers: headers)
            #expect(response.status == .gatewayTimeout)
            let command = try #require(hasty.log.appended.first)
            hasty.log.deliver(hasty.reply(.maxAttemptsExceeded, to: command))
            try await hasty.wait { hasty.metrics.render().contains(#"latchkey_gateway_replies_total{met="late"} 1"#) }
        }
        let patient = try LoggedGateway(answers: answers)
        patient.log.respond { _ in [] }
        try await patient.running {
            let repeated = await patient.gateway.confirm(TestGateway.confirm, headers: headers)
            #expect(repeated.code == "MAX_ATTEMPTS_EXCEEDED")
        }
        #expect(patient.log.appended.isEmpty)
    }

    @Test func `that confirms the code of a sign-up is, told late, no answer to that`() async throws {
        let answers = ModelAnswers()
        let hasty = try LoggedGateway(deadline: .milliseconds(300), answers: answers)
        func signUp(_ gateway: LoggedGateway) async -> ClientResponse {
            await gateway.gateway.post(
                "/onboarding/session", #"{"email":"user@example.com","password":"Correct-Horse-7","code":"123456"}"#,
                headers: ["Idempotency-Key": "k"])
        }
        try await hasty.running {
            #expect(await signUp(hasty).status == .gatewayTimeout)
            hasty.log.deliver(hasty.reply(.ok, to: try #require(hasty.log.appended.first)))
            try await hasty.wait { hasty.metrics.render().contains(#"latchkey_gateway_replies_total{met="late"} 1"#) }
        }
        let patient = try LoggedGateway(answers: answers)
        patient.log.respond { [patient.reply(.invalidOTP, to: $0)] }
        try await patient.running {
            // Asked of Verification again.
            #expect(await signUp(patient).code == "INVALID_OTP")
        }
        let ids = [hasty, patient].map { $0.log.appended.first?.text(HeaderName.id) }
        #expect(ids[0] != nil && ids[0] == ids[1])
    }

    @Test func `that is repeated is the same command, answered to the new address`() async throws {
        let answers = ModelAnswers()
        let gateways = [
            try LoggedGateway(deadline: .milliseconds(300), answers: answers), try LoggedGateway(answers: answers),
        ]
        let headers: Headers = ["Idempotency-Key": "k"]
        try await gateways[0].running {
            #expect(await gateways[0].gateway.confirm(TestGateway.confirm, headers: headers).status == .gatewayTimeout)
        }
        gateways[1].log.respond { [gateways[1].reply(.invalidOTP, to: $0)] }
        try await gateways[1].running {
            // The first gateway still has to give the request back after its deadline.
            try await gateways[1].wait {
                await gateways[1].gateway.confirm(TestGateway.confirm, headers: headers).code == "INVALID_OTP"
            }
        }
        let (first, second) = (try #require(gateways[0].log.appended.first), try #require(gateways[1].log.appended.first))
        #expect(first.text(HeaderName.id) == second.text(HeaderName.id))
        #expect(first.text(HeaderName.remember) == "3600000")
        let addresses = [first, second].compactMap { $0.text(HeaderName.replyTo).flatMap { ReplyAddress(encoded: $0) } }
        #expect(addresses[0].publicKey == addresses[1].publicKey)
        #expect(addresses[0].process != addresses[1].process)
        #expect(addresses[0].request != addresses[1].request)
    }

    @Test func `that comes once seals its reply to the process`() async throws {
        let gateway = try LoggedGateway()
        gateway.log.respond { [gateway.reply(.ok, to: $0)] }
        try await gateway.running { for _ in 0..<2 { _ = await gateway.gateway.confirm(TestGateway.confirm) } }
        let records = gateway.log.appended
        #expect(records[0].text(HeaderName.id) != records[1].text(HeaderName.id))
        let addresses = records.compactMap { $0.text(HeaderName.replyTo).flatMap { ReplyAddress(encoded: $0) } }
        #expect(addresses[0].publicKey == addresses[1].publicKey && addresses[0].process == addresses[1].process)
    }
}

@Suite struct `The reader of replies` {
    @Test func `makes everything anew when its consumer breaks`() async throws {
        let gateway = try LoggedGateway()
        gateway.log.respond { [gateway.reply(.ok, to: $0)] }
        try await gateway.running {
            gateway.log.consumers[0].fail(with: LogError(.closed, "the handle is gone"))
            try await gateway.wait { gateway.log.consumers.count == 2 && gateway.reader.link.current != nil }
            #expect(await gateway.gateway.send(TestGateway.send).status == .ok)
        }
    }

    @Test func `makes everything anew when the producer breaks`() async throws {
        let gateway = try LoggedGateway()
        gateway.log.fail(LogError(.closed, "the handle is gone"))
        try await gateway.running {
            #expect(await gateway.gateway.send(TestGateway.send).status == .serviceUnavailable)
            try await gateway.wait { gateway.log.consumers.count == 2 }
        }
    }

    @Test func `goes to the end where the records before it are gone, and looks again after an interruption`() async throws {
        let gateway = try LoggedGateway()
        try await gateway.running {
            let consumer = gateway.log.consumers[0]
            let (partition, start) = try #require(consumer.position.first)
            #expect(start == 100)
            consumer.happen(.outOfRange(partition, begin: 500, end: 700))
            try await gateway.wait { consumer.position[partition] == 700 }
            consumer.happen(.interrupted(partition))
            consumer.happen(.outOfRange(partition, begin: 0, end: 3))
            try await gateway.wait { consumer.position[partition] == 3 }
        }
    }

    @Test func `ends the service where the log has another number of partitions`() async throws {
        let gateway = try LoggedGateway(partitions: 3, expected: 4)
        let error = await #expect(throws: LogError.self) { try await gateway.reader.run() }
        #expect(error?.code == .misconfigured)
    }
}
