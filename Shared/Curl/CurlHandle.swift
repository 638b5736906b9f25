internal import CCurl

/// An easy handle of libcurl: one transfer at a time, and the connection that is kept for the next one. Blocks.
final class CurlHandle {
    let pointer: UnsafeMutableRawPointer

    /// Once for the process, before the first handle.
    private static let isReady: Bool = curl_global_init(Int(CURL_GLOBAL_DEFAULT)) == CURLE_OK

    /// `nil`: there is no memory.
    init?() {
        guard Self.isReady, let pointer = curl_easy_init() else { return nil }
        self.pointer = pointer
        // Signals would reach any thread.
        set(CURLOPT_NOSIGNAL, 1)
    }

    deinit { curl_easy_cleanup(pointer) }

    /// Returns whether libcurl takes the value.
    @discardableResult
    func set(_ option: CURLoption, _ value: Int) -> Bool { latchkey_curl_set_long(pointer, option, value) == CURLE_OK }

    @discardableResult
    func set(_ option: CURLoption, _ text: String) -> Bool {
        text.withCString { latchkey_curl_set_pointer(pointer, option, $0) == CURLE_OK }
    }

    func set(_ option: CURLoption, _ duration: Duration) { set(option, max(Int(duration / .milliseconds(1)), 1)) }

    /// Lends a list to the handle for the time of `body`.
    func withList<Result>(_ option: CURLoption, _ entries: [String], _ body: () -> Result) -> Result {
        var list: UnsafeMutablePointer<curl_slist>?
        for entry in entries { list = curl_slist_append(list, entry) ?? list }
        latchkey_curl_set_pointer(pointer, option, list)
        defer {
            latchkey_curl_set_pointer(pointer, option, nil)
            curl_slist_free_all(list)
        }
        return body()
    }

    func number(_ info: CURLINFO) -> Int {
        var value = 0
        return latchkey_curl_get_long(pointer, info, &value) == CURLE_OK ? value : 0
    }

    /// One of the times, whose names end with `_T`.
    func microseconds(_ info: CURLINFO) -> Int {
        var value: curl_off_t = 0
        return latchkey_curl_get_offset(pointer, info, &value) == CURLE_OK ? Int(value) : 0
    }

    /// Performs the transfer that was set up.
    func perform() -> CURLcode { curl_easy_perform(pointer) }
}
