import Foundation
import Glibc
import HTTP
import Testing

extension SystemTests {
    @Suite(.enabled(if: SmallDisk.isPossible, "needs to mount a small disk")) struct FullDiskTests {
        @Test func `on a full disk nothing is acknowledged that is not kept, and all goes on when there is room`() async throws {
            let system = try LatchkeySystem()
            let disk = try SmallDisk(at: system.state, mebibytes: 150)
            let result = await Result { try await self.live(system, on: disk) }
            // The system before the disk that it lies on, the disk before its folder.
            try? await system.down()
            disk.unmount()
            system.close()
            try result.get()
        }

        private func live(_ system: LatchkeySystem, on disk: SmallDisk) async throws {
            try await system.up()
            let before = Visitor(system)
            #expect(try await before.send().isSuccess)
            let code = try await before.code()

            try disk.fill()
            var acknowledged: [Visitor] = []
            try await eventually("requests are refused, and readiness says so") {
                let visitor = Visitor(system)
                let answer = try await visitor.send()
                if answer.isSuccess { acknowledged.append(visitor) } else { #expect([503, 504].contains(answer.status)) }
                let isReady = await system.isReady()
                return answer.status == 503 && !isReady
            }
            let refusal = try await Visitor(system).send()
            #expect(refusal.isSuccess || refusal.status == 503 && refusal.headers["Retry-After"] != nil, "\(refusal)")
            // The supervisor goes on without its files.
            try await system.kill("identity")

            try disk.empty()
            try await eventually("everything is ready again") { try await system.compose("status").status == 0 }
            #expect(try await before.confirm(code).isSuccess)
            for visitor in acknowledged { #expect(try await visitor.confirm(visitor.code()).isSuccess) }
            let after = Visitor(system)
            #expect(try await after.send().isSuccess)
            #expect(try await after.confirm(after.code()).isSuccess)
        }
    }
}

extension Result where Failure == any Error {
    fileprivate init(_ body: () async throws -> Success) async {
        do { self = .success(try await body()) } catch { self = .failure(error) }
    }
}

/// A file system in memory that is soon full.
private struct SmallDisk {
    let path: String
    private var filler: String { path + "/filler" }

    /// Where this process may mount anything at all.
    static let isPossible: Bool = {
        guard getuid() == 0,
            let folder = try? FileManager.default.url(
                for: .itemReplacementDirectory, in: .userDomainMask, appropriateFor: URL(fileURLWithPath: NSTemporaryDirectory()),
                create: true)
        else { return false }
        defer { try? FileManager.default.removeItem(at: folder) }
        guard mount("tmpfs", folder.path, "tmpfs", 0, "size=64k") == 0 else { return false }
        umount2(folder.path, Int32(MNT_DETACH))
        return true
    }()

    init(at path: String, mebibytes: Int) throws {
        self.path = path
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        guard mount("tmpfs", path, "tmpfs", 0, "size=\(mebibytes)m") == 0 else { throw POSIXError(.EPERM) }
    }

    func fill() throws {
        let file = open(filler, O_WRONLY | O_CREAT, 0o600)
        guard file >= 0 else { throw POSIXError(.EIO) }
        defer { close(file) }
        let page = [UInt8](repeating: 0, count: 4_096)
        while write(file, page, page.count) > 0 {}
    }

    func empty() throws { try FileManager.default.removeItem(atPath: filler) }

    func unmount() { umount2(path, Int32(MNT_DETACH)) }
}
