internal import CCurl
internal import Synchronization

/// A connection to a mail server, made when it is needed and kept for the next message. Blocks.
final class SMTPSession: Sendable {
    /// Locked while a message is on its way: one thread at a time uses it.
    private let handle: Mutex<CurlHandle>
    private let server: SMTPServer
    private let isConfigured: Bool

    /// `nil`: there is no memory.
    init?(_ server: SMTPServer) {
        guard let handle = CurlHandle() else { return nil }
        self.server = server
        isConfigured = Self.configure(handle, server)
        self.handle = Mutex(handle)
    }

    /// Returns whether libcurl takes all of it.
    private static func configure(_ handle: CurlHandle, _ server: SMTPServer) -> Bool {
        var isTaken = handle.set(CURLOPT_URL, server.url)
        isTaken = handle.set(CURLOPT_PROTOCOLS_STR, "smtp,smtps") && isTaken
        // The environment's proxies are made for the web.
        isTaken = handle.set(CURLOPT_PROXY, "") && isTaken
        let security = server.security == .none ? CURLUSESSL_NONE : CURLUSESSL_ALL
        isTaken = handle.set(CURLOPT_USE_SSL, Int(security.rawValue)) && isTaken
        isTaken = handle.set(CURLOPT_SSLVERSION, Int(CURL_SSLVERSION_TLSv1_2)) && isTaken
        if let authorities = server.authorities {
            isTaken = handle.set(CURLOPT_CAINFO, authorities) && isTaken
            latchkey_curl_set_pointer(handle.pointer, CURLOPT_CAPATH, nil)
        }
        if let credentials = server.credentials {
            isTaken = handle.set(CURLOPT_USERNAME, credentials.user) && isTaken
            isTaken = handle.set(CURLOPT_PASSWORD, credentials.password()) && isTaken
        }
        handle.set(CURLOPT_CONNECTTIMEOUT_MS, server.connectTimeout)
        handle.set(CURLOPT_SERVER_RESPONSE_TIMEOUT, max(Int(server.replyTimeout.components.seconds), 1))
        // Hardly a server keeps a silent connection for longer.
        handle.set(CURLOPT_MAXAGE_CONN, 60)
        handle.set(CURLOPT_MAXCONNECTS, 1)
        handle.set(CURLOPT_UPLOAD, 1)
        latchkey_curl_set_reader(handle.pointer, readSubmission, nil)
        return isTaken
    }

    func send(_ submission: SMTPSubmission) -> SMTPOutcome {
        guard isConfigured else { return .failed(.misconfigured) }
        guard submission.hasSoundAddresses else { return .failed(.addressInvalid) }
        return handle.withLock { handle in
            let (outcome, isStale) = attempt(submission, over: handle, onNewConnection: false)
            return isStale ? attempt(submission, over: handle, onNewConnection: true).outcome : outcome
        }
    }

    private func attempt(
        _ submission: SMTPSubmission, over handle: CurlHandle, onNewConnection: Bool
    ) -> (outcome: SMTPOutcome, isStale: Bool) {
        var run = SubmissionRun(submission)
        handle.set(CURLOPT_FRESH_CONNECT, onNewConnection ? 1 : 0)
        // Four replies, and what lies between them.
        handle.set(CURLOPT_TIMEOUT_MS, server.connectTimeout + server.replyTimeout * 5)
        handle.set(CURLOPT_MAIL_FROM, submission.sender)
        let code = withUnsafeMutablePointer(to: &run) { run in
            handle.withList(CURLOPT_MAIL_RCPT, [submission.recipient]) {
                latchkey_curl_set_pointer(handle.pointer, CURLOPT_READDATA, run)
                latchkey_curl_set_trace(handle.pointer, traceSubmission, run)
                defer {
                    latchkey_curl_set_pointer(handle.pointer, CURLOPT_READDATA, nil)
                    latchkey_curl_set_trace(handle.pointer, traceSubmission, nil)
                }
                return handle.perform()
            }
        }
        let outcome = run.dialogue.outcome(code == CURLE_OK ? nil : run.refusal ?? Self.failure(code))
        let wasKept = handle.number(CURLINFO_NUM_CONNECTS) == 0
        return (outcome, wasKept && run.refusal == nil && run.dialogue.isStale(outcome))
    }

    private static func failure(_ code: CURLcode) -> SMTPOutcome.Failure {
        switch code {
        case CURLE_COULDNT_RESOLVE_HOST, CURLE_COULDNT_CONNECT: .unreachable
        case CURLE_OPERATION_TIMEDOUT: .timedOut
        case CURLE_USE_SSL_FAILED, CURLE_SSL_CONNECT_ERROR, CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_CIPHER,
            CURLE_SSL_CERTPROBLEM, CURLE_SSL_ISSUER_ERROR:
            .insecure
        case CURLE_SSL_CACERT_BADFILE, CURLE_URL_MALFORMAT, CURLE_UNSUPPORTED_PROTOCOL, CURLE_NOT_BUILT_IN: .misconfigured
        case CURLE_LOGIN_DENIED: .noSignIn
        default: .disconnected
        }
    }
}

/// What libcurl's callbacks work on, for the time of one attempt.
private struct SubmissionRun {
    let submission: SMTPSubmission
    var dialogue = SMTPDialogue()
    /// How much of the content has been handed over.
    var sent = 0
    /// Why it was not handed over.
    var refusal: SMTPOutcome.Failure?

    init(_ submission: SMTPSubmission) { self.submission = submission }

    /// The server waits for the content now. Until its end has come, it has taken nothing.
    mutating func read(into buffer: UnsafeMutableRawBufferPointer) -> Int {
        if sent == 0 {
            if submission.needsUTF8, !dialogue.saidUTF8 { refusal = .addressUnsupported }
            if ContinuousClock.now >= submission.deadline { refusal = .late }
            guard refusal == nil else { return Int(CURL_READFUNC_ABORT) }
        }
        let rest = submission.content[sent...].prefix(buffer.count)
        guard !rest.isEmpty else {
            dialogue.finished()
            return 0
        }
        buffer.copyBytes(from: rest)
        sent += rest.count
        return rest.count
    }
}

/// libcurl asks for more of the content.
private func readSubmission(
    _ buffer: UnsafeMutablePointer<CChar>?, _ size: Int, _ count: Int, _ context: UnsafeMutableRawPointer?
) -> Int {
    guard let run = context?.assumingMemoryBound(to: SubmissionRun.self) else { return Int(CURL_READFUNC_ABORT) }
    return run.pointee.read(into: UnsafeMutableRawBufferPointer(start: buffer, count: size * count))
}

/// libcurl tells what goes over the connection.
private func traceSubmission(
    _ handle: UnsafeMutableRawPointer?, _ type: curl_infotype, _ data: UnsafeMutablePointer<CChar>?, _ size: Int,
    _ context: UnsafeMutableRawPointer?
) -> Int32 {
    // Without a run a connection is being closed.
    guard let run = context?.assumingMemoryBound(to: SubmissionRun.self) else { return 0 }
    let line = UnsafeRawBufferPointer(start: data, count: size)
    switch type {
    case CURLINFO_HEADER_OUT: run.pointee.dialogue.sent(line)
    case CURLINFO_HEADER_IN: run.pointee.dialogue.received(line)
    default: break
    }
    return 0
}
