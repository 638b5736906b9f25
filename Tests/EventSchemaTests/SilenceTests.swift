import CPhoneNumber
import Foundation
import Glibc
import Testing

@testable import Identifiers

/// The library for phone numbers has a log of its own. It must never print a number.
struct SilenceTests {
    @Test func `numbers are not printed by the library`() throws {
        let marker = "this shows that what is printed is caught"
        let printed = try caught {
            puts(marker)
            for text in [
                "7355608991", "+7355608991", "+99973556089", "73556089917355608991", "+49", "x7355608991", ";ext=7355608991", "",
            ] {
                for region in ["ZZ", "US", "XX", "", "DE"] {
                    var buffer = [CChar](repeating: 0, count: 32)
                    _ = latchkey_phone_e164(text, text.utf8.count, region, &buffer, buffer.count)
                    _ = latchkey_phone_region_is_known(region)
                }
            }
        }
        #expect(printed.contains(marker))
        #expect(!printed.contains("73556089"))
        // What it says of these texts where it is let.
        for phrase in ["default country", "did not seem to be", "calling code"] { #expect(!printed.contains(phrase)) }
    }

    /// What is written to stdout and stderr meanwhile. Other tests may print at the same time; that is passed on.
    private func caught(_ body: () -> Void) throws -> String {
        let file = try #require(tmpfile())
        defer { fclose(file) }
        fflush(nil)
        // Not for child processes that other tests start meanwhile.
        let (out, err) = (fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0), fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 0))
        dup2(fileno(file), STDOUT_FILENO)
        dup2(fileno(file), STDERR_FILENO)
        body()
        fflush(nil)
        dup2(out, STDOUT_FILENO)
        dup2(err, STDERR_FILENO)
        close(out)
        close(err)
        rewind(file)
        var bytes: [UInt8] = []
        while case let byte = fgetc(file), byte != EOF { bytes.append(UInt8(byte)) }
        bytes.withUnsafeBytes { _ = write(STDOUT_FILENO, $0.baseAddress, $0.count) }
        return String(decoding: bytes, as: UTF8.self)
    }
}
