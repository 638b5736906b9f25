internal import EventSchema

extension DecisionLoop {
    /// Tells what is certain, settled and still awaited.
    mutating func tell(at local: LocalInstant, actions: inout [LoopAction<Domain>]) {
        guard isOwner, let now = clock.now(at: local) else { return }
        while let first = answers.first, first.sequence <= settledSequence {
            if first.deadline < now, !clock.isKnown(since: first.readAt) { return askTime(at: local, actions: &actions) }
            answers.removeFirst()
            guard now <= first.deadline else {
                counters.late += 1
                continue
            }
            counters.answered += 1
            actions.append(.reply(reply(first)))
        }
    }

    private func reply(_ answer: EarnedAnswer) -> OutgoingRecord {
        var headers = [
            Header(HeaderName.specVersion, "1.0"),
            Header(HeaderName.id, MessageID.random().text),
            Header(HeaderName.type, LogRecordType.reply),
            Header(HeaderName.source, "/\(settings.service.rawValue)"),
            Header(HeaderName.contentType, "application/json"),
            Header(HeaderName.causation, answer.causation.text),
            Header(HeaderName.replyTo, answer.replyTo.encoded),
        ]
        if let traceParent = answer.traceParent { headers.append(Header(HeaderName.traceParent, traceParent)) }
        return authenticator.sealed(
            OutgoingRecord(
                partition: TopicPartition(.replies, Int(answer.replyTo.partition)), key: answer.replyTo.process, headers: headers,
                value: answer.answer.data))
    }
}
