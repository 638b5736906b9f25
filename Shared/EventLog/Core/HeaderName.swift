/// The headers of a record: CloudEvents 1.0 in Kafka's binary mode, and Latchkey's extensions to it.
///
/// Source: CloudEvents Kafka protocol binding 1.0.2, section 3.2. Extension names are lower-case letters and digits.
public enum HeaderName {
    public static let specVersion = "ce_specversion"
    public static let id = "ce_id"
    public static let type = "ce_type"
    public static let source = "ce_source"
    public static let time = "ce_time"
    public static let subject = "ce_subject"
    public static let contentType = "content-type"

    /// Place in the chain, from 1.
    public static let sequence = "ce_sequence"
    /// SHA-256 of the valid event before this one, base64url.
    public static let previous = "ce_previous"
    /// How far each inbox had been read when this was decided.
    public static let inboxes = "ce_inboxes"
    /// The process that wrote the record, and which of its speculations it belongs to.
    public static let writer = "ce_writer"
    public static let speculation = "ce_speculation"
    /// Ids and outcomes of commands that were refused since the event before this one.
    public static let refused = "ce_refused"

    public static let causation = "ce_causationid"
    public static let traceParent = "ce_traceparent"
    public static let replyTo = "ce_replyto"
    /// Until when somebody waits for the answer, in milliseconds of the log's clock: of events, and of commands without a budget,
    /// which are decided however late they are.
    public static let deadline = "ce_deadline"
    /// How long an answer is of use, in milliseconds from the append (commands).
    public static let budget = "ce_budget"
    /// For how long the same command may come again, in milliseconds from the append.
    public static let remember = "ce_remember"
    /// Client address and user agent, sealed to Identity.
    public static let client = "ce_client"

    public static let macKey = "ce_mackeyid"
    public static let mac = "ce_mac"
}

/// Types of records that belong to the log itself and mean nothing to a domain.
public enum LogRecordType {
    /// Carries inbox positions and refusals past commands that led to no event of a domain.
    public static let passed = "latchkey.log.passed.v1"
    /// A command came again whose answer another service owes: asks that service to tell it once more, when it has done its
    /// part. Names who waits now; its data is the answer, or what that service finds it by.
    public static let repeated = "latchkey.log.repeated.v1"
    /// Appended to learn the log's clock.
    public static let probe = "latchkey.log.probe.v1"
    /// The content of `EventSchema.Reply`.
    public static let reply = "latchkey.reply.v1"
    /// Introduces the next MAC key, under the key before it: in the topic `keys` to everybody, in a chain to its readers.
    public static let macKeyIntroduced = "latchkey.log.mac-key-introduced.v1"
    /// Asks every process, in the topic `keys`, whether it holds a MAC key; and what each of them replies.
    public static let macKeyAsked = "latchkey.log.mac-key-asked.v1"
    public static let macKeyAnswered = "latchkey.log.mac-key-answered.v1"
    /// Says that an event of the same chain is passed over by everybody, and why. Time and inbox positions are those of the event
    /// before it. In the topic `keys` it says so of an event of any chain.
    public static let skipped = "latchkey.log.skipped.v1"

    /// Those that stand among the events of a service and mean nothing to its domain.
    public static let amongEvents: Set<String> = [passed, repeated, macKeyIntroduced, skipped]
}
