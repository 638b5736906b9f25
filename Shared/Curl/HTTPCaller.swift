internal import CCurl
internal import Synchronization

/// Posts to other people's HTTP interfaces, over as many connections as threads call it at once. Blocks.
public final class HTTPCaller: Sendable {
    /// The largest answer that is read, in bytes.
    private static let largestAnswer = 65_536

    private let isRepeatable: Bool
    private let authorities: String?
    private let idle = Mutex<[Line]>([])

    /// One connection, used by one thread at a time.
    private final class Line: Sendable {
        let handle: Mutex<CurlHandle>

        init?() {
            guard let handle = CurlHandle() else { return nil }
            self.handle = Mutex(handle)
        }
    }

    /// - Parameters:
    ///   - isRepeatable: whether a call that arrives twice does no harm: libcurl makes one again when a connection that was
    ///     kept breaks without an answer. Otherwise each call has a connection of its own.
    ///   - authorities: PEM file of the authorities whose certificates are accepted; `nil`: those of the system.
    public init(isRepeatable: Bool, authorities: String? = nil) {
        self.isRepeatable = isRepeatable
        self.authorities = authorities
    }

    public func post(_ call: HTTPCall) -> HTTPOutcome {
        guard let line = idle.withLock({ $0.popLast() }) ?? Line() else { return .failed(.misconfigured) }
        let outcome = line.handle.withLock { perform(call, over: $0) }
        idle.withLock { $0.append(line) }
        return outcome
    }

    /// Closes the connections that are idle.
    public func close() {
        let closed = idle.withLock { idle in
            defer { idle = [] }
            return idle
        }
        withExtendedLifetime(closed) {}
    }

    private func perform(_ call: HTTPCall, over handle: CurlHandle) -> HTTPOutcome {
        guard configure(handle, call) else { return .failed(.misconfigured) }
        var answer = ReceivedAnswer(limit: Self.largestAnswer)
        let headers = call.headers.map { "\($0.name): \($0.value)" } + ["Expect:"]
        let code = withUnsafeMutablePointer(to: &answer) { answer in
            handle.withList(CURLOPT_HTTPHEADER, headers) {
                call.body.withUnsafeBytes { body in
                    latchkey_curl_set_pointer(handle.pointer, CURLOPT_POSTFIELDS, body.baseAddress ?? UnsafeRawPointer(answer))
                    handle.set(CURLOPT_POSTFIELDSIZE, body.count)
                    latchkey_curl_set_writer(handle.pointer, receiveBody, receiveHeader, answer)
                    defer {
                        latchkey_curl_set_pointer(handle.pointer, CURLOPT_POSTFIELDS, nil)
                        latchkey_curl_set_writer(handle.pointer, receiveBody, receiveHeader, nil)
                    }
                    return handle.perform()
                }
            }
        }
        let status = handle.number(CURLINFO_RESPONSE_CODE)
        if code == CURLE_OK, status >= 200 {
            return .answered(.init(status: status, retryAfter: answer.retryAfter, body: answer.body))
        }
        switch code {
        case CURLE_COULDNT_RESOLVE_HOST, CURLE_COULDNT_RESOLVE_PROXY, CURLE_COULDNT_CONNECT: return .failed(.unreachable)
        case CURLE_SSL_CONNECT_ERROR, CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_CIPHER: return .failed(.insecure)
        case CURLE_SSL_CACERT_BADFILE, CURLE_URL_MALFORMAT, CURLE_UNSUPPORTED_PROTOCOL: return .failed(.misconfigured)
        case CURLE_OPERATION_TIMEDOUT where handle.microseconds(CURLINFO_PRETRANSFER_TIME_T) == 0: return .failed(.timedOut)
        default: return .unknown
        }
    }

    private func configure(_ handle: CurlHandle, _ call: HTTPCall) -> Bool {
        var isTaken = handle.set(CURLOPT_URL, call.url)
        isTaken = handle.set(CURLOPT_PROTOCOLS_STR, "https,http") && isTaken
        isTaken = handle.set(CURLOPT_SSLVERSION, Int(CURL_SSLVERSION_TLSv1_2)) && isTaken
        if let authorities { isTaken = handle.set(CURLOPT_CAINFO, authorities) && isTaken }
        if let credentials = call.credentials {
            isTaken = handle.set(CURLOPT_USERNAME, credentials.user) && isTaken
            isTaken = handle.set(CURLOPT_PASSWORD, credentials.password) && isTaken
        }
        handle.set(CURLOPT_HTTP_VERSION, Int(CURL_HTTP_VERSION_1_1))
        handle.set(CURLOPT_POST, 1)
        handle.set(CURLOPT_FRESH_CONNECT, isRepeatable ? 0 : 1)
        handle.set(CURLOPT_FORBID_REUSE, isRepeatable ? 0 : 1)
        handle.set(CURLOPT_CONNECTTIMEOUT_MS, min(call.timeout, .seconds(10)))
        handle.set(CURLOPT_TIMEOUT_MS, call.timeout)
        return isTaken
    }
}

/// What has come of an answer.
private struct ReceivedAnswer {
    let limit: Int
    var body: [UInt8] = []
    var retryAfter: Int?

    init(limit: Int) { self.limit = limit }

    /// What is too long is cut off: answers are read for their first words.
    mutating func take(_ bytes: UnsafeRawBufferPointer) { body.append(contentsOf: bytes.prefix(limit - body.count)) }

    mutating func takeHeader(_ line: UnsafeRawBufferPointer) {
        let text = String(decoding: line, as: UTF8.self)
        guard let colon = text.firstIndex(of: ":"), text[..<colon].lowercased() == "retry-after" else { return }
        retryAfter = Int(text[colon...].dropFirst().filter { !$0.isWhitespace })
    }
}

private func receiveBody(
    _ buffer: UnsafeMutablePointer<CChar>?, _ size: Int, _ count: Int, _ context: UnsafeMutableRawPointer?
) -> Int {
    context?.assumingMemoryBound(to: ReceivedAnswer.self).pointee
        .take(UnsafeRawBufferPointer(start: buffer, count: size * count))
    return size * count
}

private func receiveHeader(
    _ buffer: UnsafeMutablePointer<CChar>?, _ size: Int, _ count: Int, _ context: UnsafeMutableRawPointer?
) -> Int {
    context?.assumingMemoryBound(to: ReceivedAnswer.self).pointee
        .takeHeader(UnsafeRawBufferPointer(start: buffer, count: size * count))
    return size * count
}
