internal import Crypto
internal import EventLog
public import EventSchema
internal import JSON

/// The heads of all chains at one time, signed: what a later audit compares the log with.
///
/// Its file is one JSON object. The signature is Ed25519's (RFC 8032) over the file's bytes up to and without
/// `,"signature":"…"}`, behind `latchkey audit proof v1` and a line feed.
///
/// | member | |
/// |---|---|
/// | `version` | 1 |
/// | `time` | when the audit began, by the clock of the machine that it ran on |
/// | `log` | the log's id, base64url |
/// | `verified` | `mac`: with the MAC keys; `hashes`: without |
/// | `chains` | for each partition `topic`, `partition`; `sequence`, `offset` and `hash` of its last event; `end`, the offset behind the last record, and `contents`, a digest of all records before it |
/// | `key` | the public key, base64url |
/// | `signature` | base64url |
public struct LogProof: Equatable, Sendable {
    public struct Chain: Equatable, Sendable {
        public var place: TopicPartition
        public var sequence: Int64
        public var offset: Int64
        public var hash: [UInt8]
        public var end: Int64
        public var contents: [UInt8]
    }

    public enum Fault: Error, Equatable, CustomStringConvertible {
        case malformed
        case forged
        case foreignKey
        case foreignLog

        public var description: String {
            switch self {
            case .malformed: "the file is no proof that this release can read"
            case .forged: "the signature of the proof does not verify: it was changed"
            case .foreignKey: "the proof was signed with another key than this log's; its own is named with --key"
            case .foreignLog: "the proof is of another log"
            }
        }
    }

    public var time: Timestamp
    public var log: [UInt8]
    public var withKeys: Bool
    public var chains: [Chain]

    init(time: Timestamp, log: [UInt8], withKeys: Bool, reports: [ChainReport]) {
        self.time = time
        self.log = log
        self.withKeys = withKeys
        chains = reports.map { report in
            Chain(
                place: report.place, sequence: report.head.sequence, offset: report.head.offset, hash: report.head.hash,
                end: report.end, contents: report.contents)
        }
    }

    func chain(_ place: TopicPartition) -> Chain? { chains.first { $0.place == place } }

    /// How findings name it.
    var witness: String { "the proof of \(time.rfc3339)" }

    private static let prefix = Array("latchkey audit proof v1\n".utf8)

    // MARK: Writing

    /// The file, signed.
    func file(signedBy key: Ed25519Key) -> [UInt8] {
        var object = body
        object["key"] = .string(Base64URL.encode(key.publicKey))
        var signed = JSON.object(object).serialized()
        signed.removeLast()
        let signature = Base64URL.encode(key.signature(of: Self.prefix + signed))
        return signed + Array(",\"signature\":\"\(signature)\"}\n".utf8)
    }

    private var body: JSONObject {
        JSONObject([
            ("version", 1), ("time", .string(time.rfc3339)), ("log", .string(Base64URL.encode(log))),
            ("verified", .string(withKeys ? "mac" : "hashes")), ("chains", .array(chains.map(Self.json))),
        ])
    }

    private static func json(_ chain: Chain) -> JSON {
        [
            "topic": .string(chain.place.topic.rawValue), "partition": .integer(Int64(chain.place.partition)),
            "sequence": .integer(chain.sequence), "offset": .integer(chain.offset),
            "hash": .string(Base64URL.encode(chain.hash)), "end": .integer(chain.end),
            "contents": .string(Base64URL.encode(chain.contents)),
        ]
    }

    // MARK: Reading

    /// Reads a file whose signature by this key verifies.
    init(file: [UInt8], publicKey: [UInt8]) throws(Fault) {
        var bytes = file
        while bytes.last == UInt8(ascii: "\n") || bytes.last == UInt8(ascii: "\r") { bytes.removeLast() }
        guard let json = try? JSON.parse(bytes), json["version"]?.int64 == 1, let text = json["signature"]?.string,
            let signature = Base64URL.decode(text), let key = json["key"]?.string.flatMap({ Base64URL.decode($0) })
        else { throw .malformed }
        let end = Array(",\"signature\":\"\(text)\"}".utf8)
        guard bytes.count > end.count, bytes.suffix(end.count).elementsEqual(end) else { throw .malformed }
        guard key == publicKey else { throw .foreignKey }
        let signed = Self.prefix + bytes.dropLast(end.count)
        guard Ed25519Key.isValid(signature, of: signed, by: publicKey) else { throw .forged }
        guard let time = json["time"]?.string.flatMap({ Timestamp(rfc3339: $0) }),
            let log = json["log"]?.string.flatMap({ Base64URL.decode($0) }), let verified = json["verified"]?.string,
            let chains = json["chains"]?.array?.map({ Self.chain($0) })
        else { throw .malformed }
        self.time = time
        self.log = log
        withKeys = verified == "mac"
        self.chains = chains.compactMap { $0 }
        guard self.chains.count == chains.count else { throw .malformed }
    }

    private static func chain(_ json: JSON) -> Chain? {
        guard let topic = json["topic"]?.string.flatMap({ Topic(rawValue: $0) }), let partition = json["partition"]?.int64,
            let sequence = json["sequence"]?.int64, let offset = json["offset"]?.int64, let end = json["end"]?.int64,
            let hash = json["hash"]?.string.flatMap({ Base64URL.decode($0) }),
            let contents = json["contents"]?.string.flatMap({ Base64URL.decode($0) })
        else { return nil }
        return Chain(
            place: TopicPartition(topic, Int(partition)), sequence: sequence, offset: offset, hash: hash, end: end,
            contents: contents)
    }
}
