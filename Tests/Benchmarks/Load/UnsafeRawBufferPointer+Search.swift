import Glibc

extension UnsafeRawBufferPointer {
    /// Where a text first ends, within the first `count` bytes.
    func position(behind text: StaticString, within count: Int) -> Int? {
        guard let base = baseAddress else { return nil }
        let length = text.utf8CodeUnitCount
        var start = 0
        while start + length <= count,
            let first = memchr(base + start, Int32(text.utf8Start[0]), count - length + 1 - start)
        {
            let found = UnsafeRawPointer(first) - base
            if memcmp(first, text.utf8Start, length) == 0 { return found + length }
            start = found + 1
        }
        return nil
    }
}
