import Glibc
import Testing

@testable import Crypto

@Suite struct WipedMemory {
    /// The memory is read through the kernel: its address is nobody's any more.
    @Test func `a secret is wiped when its last copy goes`() throws {
        // Kept inverted here, so that the test's own copies are not taken for the secret's.
        let inverted = Random.bytes(256)
        var secret: Secret? = Secret(count: inverted.count) { buffer in
            for (place, byte) in inverted.enumerated() { buffer[place] = ~byte }
        }
        var copy = secret
        let address = try #require(secret?.withBytes { UInt(bitPattern: $0.baseAddress) })
        secret = nil
        #expect(try read(address, 256) == inverted.map { ~$0 }, "a copy is left")
        withExtendedLifetime(copy) {}
        copy = nil
        // The allocator writes into what was freed, at its beginning.
        #expect(try read(address + 128, 128) != inverted.suffix(128).map { ~$0 })
    }

    private func read(_ address: UInt, _ count: Int) throws -> [UInt8] {
        let memory = open("/proc/self/mem", O_RDONLY)
        try #require(memory >= 0)
        defer { close(memory) }
        var bytes = [UInt8](repeating: 0, count: count)
        _ = bytes.withUnsafeMutableBytes { pread(memory, $0.baseAddress, $0.count, off_t(address)) }
        return bytes
    }
}
