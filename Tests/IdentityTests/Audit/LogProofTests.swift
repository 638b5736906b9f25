import Crypto
import EventLogSimulated
import EventSchema
import Foundation
import SeededRandom
import Testing

@testable import IdentityService

/// Files of proofs.
struct LogProofTests {
    private let key = Ed25519Key.random()

    private func proof() throws -> LogProof {
        LogProof(
            time: Timestamp(rfc3339: "2026-01-02T03:04:05.006Z")!, log: AuditedPartition.log, withKeys: true,
            reports: [try AuditedPartition(7).report()])
    }

    @Test func `what was signed is read back`() throws {
        let proof = try proof()
        let file = proof.file(signedBy: key)
        #expect(try LogProof(file: file, publicKey: key.publicKey) == proof)
        #expect(proof.chain(AuditedPartition.place)?.sequence == 7)
        // Whoever has a line end added, or none, has the same proof.
        #expect(try LogProof(file: Array(file.dropLast()), publicKey: key.publicKey) == proof)
    }

    @Test func `the signature is over all that stands before it`() throws {
        let text = String(decoding: try proof().file(signedBy: key), as: UTF8.self)
        let end = try #require(text.range(of: ",\"signature\":\""))
        let signature = text[end.upperBound...].prefix { $0 != "\"" }
        #expect(
            Ed25519Key.isValid(
                try #require(Base64URL.decode(String(signature))),
                of: Array("latchkey audit proof v1\n\(text[..<end.lowerBound])".utf8), by: key.publicKey))
    }

    @Test(arguments: 0..<4)
    func `nothing in it can be changed`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let file = try proof().file(signedBy: key)
        for _ in 0..<200 {
            var changed = file
            changed[Int.random(in: 0..<file.count - 1, using: &random)] ^= 1 << UInt8.random(in: 0..<8, using: &random)
            #expect(throws: LogProof.Fault.self) { try LogProof(file: changed, publicKey: key.publicKey) }
        }
    }

    @Test func `another key's proof is none`() throws {
        let file = try proof().file(signedBy: .random())
        #expect(throws: LogProof.Fault.foreignKey) { try LogProof(file: file, publicKey: key.publicKey) }
        #expect(throws: LogProof.Fault.malformed) { try LogProof(file: Array("{}".utf8), publicKey: key.publicKey) }
        #expect(throws: LogProof.Fault.malformed) { try LogProof(file: [], publicKey: key.publicKey) }
    }
}
