import CMicroHTTPD
import Glibc
import Synchronization

/// One TCP connection and the request that it carries now. It rings when a client is too slow.
///
/// Everything but `reply` and `isOpen` belongs to the event loop that the connection lives on, which calls one callback at a
/// time: the reason for `@unchecked`.
final class Connection: Alarm, @unchecked Sendable {
    /// How far the answer is. The library calls the handler again when it is ready.
    private enum Reply: Sendable {
        case none
        /// The request is being read.
        case reading
        /// The handler runs on the event loop's thread.
        case starting
        /// The connection is suspended; whoever answers resumes it.
        case suspended(Exchange)
        case ready(Response)
    }

    private let server: ServerCore
    private let socket: Int32
    private let peer: IPAddress
    private let loop: Int
    private let handle: OpaquePointer
    private let reply = Lock(Reply.none)
    private let isOpen = Lock(true)

    // The request.
    private var isActive = false
    private var isHeadRead = false
    private var targetAddress: UnsafePointer<CChar>?
    private var target = ""
    private var isChunked = false
    private var method: HTTPMethod = .get
    private var path = RequestHead.root
    private var query = Query()
    private var headers = Headers()
    private var body: [UInt8] = []
    private var bodyBytes = 0
    private var bodyStart: UnsafePointer<CChar>?
    private var plan: HTTPApplication.Plan?
    /// The connection ends behind this answer.
    private var endsAfterReply = false
    /// The client may still be sending when it ends.
    private var endsEarly = false

    init(server: ServerCore, handle: OpaquePointer, socket: Int32, peer: IPAddress, loop: Int) {
        self.server = server
        self.handle = handle
        self.socket = socket
        self.peer = peer
        self.loop = loop
        super.init()
        AlarmClock.shared.add(self, at: AlarmClock.now + server.headerTimeout)
    }

    private func allow(_ nanoseconds: Int64) {
        AlarmClock.shared.move(self, to: AlarmClock.now + nanoseconds)
    }

    /// Ends a connection whose client is too slow. The event loop notices and cleans up.
    override func ring() {
        guard hasRung else { return }
        cutOff()
    }

    private func cutOff() {
        isOpen.withLock { isOpen in
            if isOpen { _ = shutdown(socket, Int32(SHUT_RDWR)) }
        }
    }

    // MARK: The library's callbacks, in their order

    /// The request line is complete.
    func begin(target: UnsafePointer<CChar>?) {
        isActive = true
        server.active.add(1, ordering: .relaxed)
        reply.withLock { $0 = .reading }
        targetAddress = target
        self.target = target.map { String(cString: $0) } ?? ""
        allow(server.headerTimeout)
    }

    /// Called for the head, for each piece of the body, at the end, and after a resumption.
    func handle(
        _ method: UnsafePointer<CChar>, _ version: UnsafePointer<CChar>, _ data: UnsafePointer<CChar>?,
        _ size: UnsafeMutablePointer<Int>
    ) -> MHD_Result {
        guard isHeadRead else {
            isHeadRead = true
            return readHead(method, version)
        }
        if size.pointee > 0, let data {
            defer { size.pointee = 0 }
            return receive(UnsafeBufferPointer(start: data, count: size.pointee))
        }
        switch reply.withLock({ $0 }) {
        case .none, .reading: return run()
        case .ready(let response): return send(response)
        case .starting, .suspended: return .YES  // resumed by nobody: wait on
        }
    }

    /// The answer is sent, or the request has come to nothing.
    func complete() {
        if isActive {
            isActive = false
            server.requestEnded()
        }
        isHeadRead = false
        targetAddress = nil
        target = ""
        headers = Headers()
        body = []
        bodyBytes = 0
        bodyStart = nil
        plan = nil
        reply.withLock { $0 = .none }
        allow(server.idleTimeout)
    }

    /// The last callback: the library closes the socket when this has returned.
    func close() {
        AlarmClock.shared.remove(self)
        isOpen.withLock { $0 = false }
        if isActive { complete() }
        if endsEarly {
            let copy = dup(socket)
            if copy >= 0 { server.readOut(copy) }
        }
        server.remove(self, socket: socket, loop: loop)
    }

    // MARK: Head and body

    private func readHead(_ method: UnsafePointer<CChar>, _ version: UnsafePointer<CChar>) -> MHD_Result {
        let size = latchkey_header_size(handle)
        let methodText = String(cString: method)
        self.method = HTTPMethod(rawValue: methodText)
        bodyStart = UnsafePointer(method) + size
        guard size <= server.headerLimit else { return refuse(.headerTooLarge) }
        guard let targetAddress else { return refuse(.malformedRequest) }
        var reader = HeadReader(
            method: method, methodLength: methodText.utf8.count, target: targetAddress, targetLength: target.utf8.count,
            version: version, size: size)
        withUnsafeMutablePointer(to: &reader) { pointer in
            _ = MHD_get_connection_values_n(handle, .HEADER_KIND, takeHeader, pointer)
        }
        reader.finish()
        guard reader.isWellFormed else { return refuse(.malformedRequest) }
        headers = reader.headers
        let head = RequestHead.check(method: methodText, target: target, headers: headers, isHTTP10: version[7] == 0x30)
        path = head.path
        query = head.query
        if let failure = head.failure { return refuse(failure) }

        let plan = server.application.plan(self.method, head)
        self.plan = plan
        isChunked = head.isChunked
        // A reader that takes the end of a chunk for something else than we do would see the rest of this connection
        // differently, so there is no rest.
        endsAfterReply = isChunked || server.isStopping
        if head.contentLength > UInt64(plan.bodyLimit) {
            if plan.isRouted { return refuse(.payloadTooLarge(limit: plan.bodyLimit), route: plan.route) }
            // Where there is no route, that is the answer, whatever the body.
            endsAfterReply = true
            endsEarly = true
            return run()
        }
        if head.contentLength > 0 { body.reserveCapacity(Int(head.contentLength)) }
        if isChunked || head.contentLength > 0 { allow(server.bodyTimeout) }
        return .YES
    }

    /// Answers without reading the body, and ends the connection.
    private func refuse(_ failure: HTTPFailure, route: String? = nil) -> MHD_Result {
        endsAfterReply = true
        endsEarly = true
        plan = server.application.plan(for: failure, route: route)
        return run()
    }

    private func receive(_ data: UnsafeBufferPointer<CChar>) -> MHD_Result {
        guard let plan, let start = data.baseAddress else { return .NO }
        // Behind the buffer's beginning stands the line with the chunk's size; its end may have been a bare LF.
        if isChunked, let bodyStart, start > bodyStart + 1, start[-1] == 0x0a, start[-2] != 0x0d {
            self.plan = server.application.plan(for: .malformedRequest, route: plan.route)
        }
        bodyBytes += data.count
        if bodyBytes <= plan.bodyLimit {
            body.append(contentsOf: UnsafeRawBufferPointer(data))
        } else {
            // Only a chunked body gets here. The library cannot answer in the middle of it: some is read over.
            body = []
            if bodyBytes > plan.bodyLimit + ServerCore.overrun {
                return cut(.payloadTooLarge(limit: plan.bodyLimit), route: plan.route)
            }
        }
        return .YES
    }

    /// Ends the connection in the middle of a body, past the library, with an answer where no TLS stands between.
    private func cut(_ failure: HTTPFailure, route: String?) -> MHD_Result {
        endsEarly = true
        guard !server.isSecure else { return .NO }
        let response = server.application.refusal(request, failure, route: route)
        var head = "HTTP/1.1 \(response.status) \r\n"
        for field in response.headers { head += "\(field.name): \(field.value)\r\n" }
        head += "Content-Length: \(response.body.count)\r\nConnection: close\r\n\r\n"
        // A client that takes nothing gets nothing.
        (Array(head.utf8) + response.body).withUnsafeBytes { bytes in
            _ = Glibc.send(socket, bytes.baseAddress, bytes.count, Int32(MSG_NOSIGNAL | MSG_DONTWAIT))
        }
        return .NO
    }

    private var request: Request {
        Request(method: method, path: path, query: query, headers: headers, body: body, peer: peer, isSecure: server.isSecure)
    }

    // MARK: The answer

    /// Lets the application answer: at once if its handler does not wait, else the connection is suspended until it has.
    private func run() -> MHD_Result {
        guard var plan else { return .NO }
        if bodyBytes > plan.bodyLimit {
            plan = server.application.plan(for: .payloadTooLarge(limit: plan.bodyLimit), route: plan.route)
        }
        let request = request
        body = []
        // The handler's time is the application's to watch.
        AlarmClock.shared.move(self, to: .max)
        reply.withLock { $0 = .starting }
        let exchange = server.application.dispatch(request, plan) { [self] in answer($0) }
        let isSuspended = reply.withLock { reply in
            // From here on whoever answers resumes it; when the server ends, nobody could.
            guard case .starting = reply, !server.mustAnswerNow else { return false }
            reply = .suspended(exchange)
            MHD_suspend_connection(handle)
            return true
        }
        if isSuspended { return .YES }
        if case .ready(let response) = reply.withLock({ $0 }) { return send(response) }
        exchange.abandon(.unavailable(retryAfter: server.application.configuration.retryAfter))
        guard case .ready(let response) = reply.withLock({ $0 }) else { return .NO }
        return send(response)
    }

    /// Called once, from any thread.
    private func answer(_ response: Response) {
        let mustResume = reply.withLock { reply in
            let wasSuspended = if case .suspended = reply { true } else { false }
            reply = .ready(response)
            return wasSuspended
        }
        if mustResume { server.resume(handle) }
    }

    /// Gives up what would keep the connection: a handler that still runs, a request that is not complete.
    func abandon() {
        let state = reply.withLock { $0 }
        switch state {
        case .suspended(let exchange):
            exchange.abandon(.unavailable(retryAfter: server.application.configuration.retryAfter))
        case .reading: cutOff()
        case .none, .starting, .ready: break
        }
    }

    private func send(_ response: Response) -> MHD_Result {
        allow(server.writeTimeout)
        let ends = endsAfterReply || server.isStopping || clientHasEnded
        if let message = responseMessage(response, endsConnection: ends) { return queue(message, response.status) }
        // A header field that is none: a mistake of the application, which the client does not get to see.
        let failure = server.application.failures.complete(.internalError)
        guard let message = responseMessage(failure, endsConnection: ends) else { return .NO }
        return queue(message, failure.status)
    }

    /// Whether nothing will come any more. The library does not see an end that arrives together with a request, and would
    /// keep the connection, and a client that waits for its end, until it has been idle for too long.
    private var clientHasEnded: Bool {
        var byte: UInt8 = 0
        return recv(socket, &byte, 1, Int32(MSG_PEEK | MSG_DONTWAIT)) == 0
    }

    private func queue(_ message: OpaquePointer, _ status: HTTPStatus) -> MHD_Result {
        defer { MHD_destroy_response(message) }
        return MHD_queue_response(handle, UInt32(status.rawValue), message)
    }
}

/// The response as the library sends it; `nil` if a header field is not one.
private func responseMessage(_ response: Response, endsConnection: Bool) -> OpaquePointer? {
    let message = response.body.withUnsafeBytes { bytes in
        MHD_create_response_from_buffer(
            response.status.allowsBody ? bytes.count : 0, UnsafeMutableRawPointer(mutating: bytes.baseAddress),
            .RESPMEM_MUST_COPY)
    }
    guard let message else { return nil }
    for field in response.headers where !field.value.isEmpty && !isWrittenByServer(field.name) {
        guard isToken(field.name), MHD_add_response_header(message, field.name, field.value) == .YES else {
            MHD_destroy_response(message)
            return nil
        }
    }
    if endsConnection { MHD_add_response_header(message, "Connection", "close") }
    return message
}

/// Header fields that the application cannot set.
private func isWrittenByServer(_ name: String) -> Bool {
    switch name.utf8.count {
    case 4: Headers.same(name, "Date")
    case 10: Headers.same(name, "Connection")
    case 14: Headers.same(name, "Content-Length")
    case 17: Headers.same(name, "Transfer-Encoding")
    default: false
    }
}
