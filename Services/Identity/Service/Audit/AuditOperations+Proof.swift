internal import Crypto
internal import EventLog
internal import EventSchema
internal import Glibc
internal import JSON
internal import Postgres
internal import Runtime

extension AuditOperations {
    /// Walks along all chains, says what was found, and signs what is intact.
    func prove(_ wanted: AuditArguments, _ stop: StopFlag, _ output: TextOutput) throws -> Int32 {
        let started = Self.now
        let description = try access.log.describe()
        var audit = ChainAudit(log: access.log, authenticator: wanted.withoutKeys ? nil : access.authenticator)
        if let path = wanted.earlier {
            do {
                audit.earlier = try earlierProof(path, publicKey: wanted.publicKey, of: description)
            } catch let fault as LogProof.Fault {
                Self.say("\(path): \(fault)")
                return ExitStatus.failure
            }
        }
        audit.expectations = projected(description)
        let bar = ProgressBar()
        let reports: [ChainReport]
        do {
            defer { bar.clear() }
            reports = try audit.run(stop) { bar.show($0.records, of: $0.all, "\($0.records) records, \($0.chains) chains done") }
        }
        let lines = ProofLines(format: wanted.format, log: description.id, reports: reports)
        let isIntact = reports.allSatisfy(\.isIntact)
        var report = output
        if wanted.output == "-" { report = TextOutput(STDERR_FILENO) }
        do {
            for line in lines.text { try report.write(line) }
            try report.flush()
        } catch is TextOutput.Closed {
            // Whoever read has seen enough; the status and the proof say the rest all the same.
        }
        guard isIntact else {
            if wanted.output != nil { Self.say("no proof is written of a log that is not intact") }
            return ExitStatus.failure
        }
        if let path = wanted.output {
            let proof = LogProof(time: started, log: description.id, withKeys: !wanted.withoutKeys, reports: reports)
            let connection = try PostgresConnection(access.database)
            defer { connection.close() }
            let file = proof.file(signedBy: try auditKey.key(over: connection))
            if path == "-" {
                try output.write(String(decoding: file, as: UTF8.self))
                try output.flush()
            } else {
                try ProofFile.write(file, to: path)
            }
        }
        return 0
    }

    private func earlierProof(_ path: String, publicKey: String?, of description: LogDescription) throws -> LogProof {
        let file = try ProofFile.read(path)
        let key: [UInt8]
        if let publicKey {
            guard let decoded = Base64URL.decode(publicKey) else { throw LogProof.Fault.foreignKey }
            key = decoded
        } else {
            let connection = try PostgresConnection(access.database)
            defer { connection.close() }
            guard let own = try auditKey.publicKey(over: connection) else { throw LogProof.Fault.foreignKey }
            key = own
        }
        let proof = try LogProof(file: file, publicKey: key)
        guard proof.log == description.id else { throw LogProof.Fault.foreignLog }
        return proof
    }

    /// How far the projection of Identity has read, which a chain can only be ahead of.
    private func projected(_ description: LogDescription) -> [TopicPartition: [ChainExpectation]] {
        var expectations: [TopicPartition: [ChainExpectation]] = [:]
        do throws(PostgresError) {
            let connection = try PostgresConnection(access.database)
            defer { connection.close() }
            for (partition, position) in try ShadowStore.positions(in: "identity", over: connection)
            where position.head.sequence > 0 {
                expectations[TopicPartition(.identityEvents, partition)] = [
                    ChainExpectation(
                        sequence: position.head.sequence, hash: position.head.hash, offset: position.head.offset,
                        witness: "the projection of Identity has read")
                ]
            }
        } catch {
            Self.say("the chains were not compared with the projection of Identity: \(error)")
        }
        return expectations
    }
}

/// Files of proofs.
enum ProofFile {
    /// Proofs have some 200 bytes for each partition.
    private static let largest = 16 << 20

    static func read(_ path: String) throws -> [UInt8] {
        guard let file = fopen(path, "re") else { throw failure(path) }
        defer { fclose(file) }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        while bytes.count <= largest {
            let count = fread(&buffer, 1, buffer.count, file)
            if count == 0 { break }
            bytes += buffer.prefix(count)
        }
        guard ferror(file) == 0 else { throw failure(path) }
        guard bytes.count <= largest else { throw LogProof.Fault.malformed }
        return bytes
    }

    /// A file of this name is replaced, when all is written; what is no file, as `/dev/stdout`, is written to.
    static func write(_ bytes: [UInt8], to path: String) throws {
        var status = stat()
        guard stat(path, &status) == 0, status.st_mode & S_IFMT != S_IFREG else {
            let file = try WholeFile(replacing: path, permissions: 0o644)
            try file.write(bytes)
            return try file.finish()
        }
        guard let file = fopen(path, "we") else { throw failure(path) }
        let isWritten = fwrite(bytes, 1, bytes.count, file) == bytes.count && fflush(file) == 0
        let problem = isWritten ? nil : failure(path)
        fclose(file)
        if let problem { throw problem }
    }

    private static func failure(_ path: String) -> OutputFailure {
        OutputFailure(description: "\(path): \(String(cString: strerror(errno)))")
    }
}
