internal import Crypto
internal import EventLog
internal import EventSchema
internal import JSON
internal import Postgres
internal import Runtime

/// What is kept of a person in an event, as far as it can be read.
struct PersonalContent: Equatable, Sendable {
    /// Why nothing of it can be read; `nil` where it can, or there is nothing.
    var obstacle: String?
    /// Address or number, profile, client; in the order of the event.
    var members = JSONObject()

    var isEmpty: Bool { obstacle == nil && members.isEmpty }
}

/// Opens what is encrypted in events under data keys. It keeps no key for longer than one call, so that a destroyed one is gone.
final class PersonalReading {
    private let keys: DataKeyStore
    private let keySchema: String
    private let database: PostgresConnection.Configuration
    private let reveal: Bool
    /// Why the keys cannot be reached.
    private(set) var outage: PostgresError?
    private var connection: PostgresConnection?

    init(
        keys: DataKeyStore, keySchema: String = IdentityKeys.schema, database: PostgresConnection.Configuration, reveal: Bool
    ) {
        self.keys = keys
        self.keySchema = keySchema
        self.database = database
        self.reveal = reveal
    }

    deinit { connection?.close() }

    /// What each event holds, in the same order. Blocks.
    func contents(of events: [EventEnvelope]) -> [PersonalContent] {
        let sealed = events.map { SealedContent($0) }
        guard sealed.contains(where: { !$0.fields.isEmpty }) else { return sealed.map { _ in PersonalContent() } }
        let found = lookUp(sealed.filter { !$0.fields.isEmpty })
        return sealed.map { content in
            if content.fields.isEmpty { return PersonalContent() }
            guard let found else { return PersonalContent(obstacle: "the keys cannot be reached") }
            guard let id = content.key ?? content.owner.flatMap({ found.owners[$0] }) else {
                return PersonalContent(obstacle: "its key is not known")
            }
            guard let entry = found.keys[id] else { return PersonalContent(obstacle: "its key is missing") }
            if let reason = entry.reason { return PersonalContent(obstacle: "its key was destroyed: \(reason)") }
            guard let wrapped = entry.wrapped, let key = keys.unwrap(wrapped, as: id) else {
                return PersonalContent(obstacle: "its key cannot be opened with this IDENTITY_SECRET")
            }
            return opened(content, key)
        }
    }

    private func opened(_ content: SealedContent, _ key: DataKey) -> PersonalContent {
        var result = PersonalContent()
        for (name, field, ciphertext) in content.fields {
            guard let bytes = key.open(ciphertext, as: field) else {
                result.obstacle = "it is not under its key, or was changed"
                continue
            }
            switch field {
            case .identifier: result.members[name] = .string(shown(String(decoding: bytes, as: UTF8.self)))
            // Nobody reads it, and it is worth guessing.
            case .passwordHash: result.members[name] = "***"
            case .profile, .client: result.members[name] = shown((try? JSON.parse(bytes)) ?? .null)
            }
        }
        return result
    }

    private func shown(_ json: JSON) -> JSON {
        switch json {
        case .string(let text): .string(shown(text))
        case .array(let items): .array(items.map { shown($0) })
        case .object(let object): .object(JSONObject(object.map { ($0.0, shown($0.1)) }))
        case .integer, .number: reveal ? json : "***"
        case .null, .bool: json
        }
    }

    private func shown(_ text: String) -> String { reveal ? text : Mask.outline(of: text) }

    // MARK: Keys

    struct Entry {
        var wrapped: [UInt8]?
        var reason: String?
        var destroyedAt: PostgresTimestamp?
    }

    private struct Found {
        var owners: [[UInt8]: DataKeyID] = [:]
        var keys: [DataKeyID: Entry] = [:]
    }

    private func lookUp(_ contents: [SealedContent]) -> Found? {
        do {
            return try attempt { connection throws(PostgresError) in
                var found = Found()
                let owners = Set(contents.filter { $0.key == nil }.compactMap(\.owner)).map { PostgresUUID($0) }
                if !owners.isEmpty {
                    let rows = try connection.query(
                        """
                        SELECT id, data_key FROM identity.users WHERE id = ANY (\(owners))
                        UNION ALL SELECT id, data_key FROM identity.onboarding_sessions WHERE id = ANY (\(owners))
                        """
                    ).decode(PostgresUUID.self, PostgresUUID.self)
                    for (owner, key) in rows { found.owners[owner.bytes] = DataKeyID(bytes: key.bytes) }
                }
                let ids = contents.compactMap(\.key) + found.owners.values
                found.keys = try Self.entries(of: Array(Set(ids)), in: keySchema, over: connection)
                return found
            }
        } catch {
            outage = outage ?? error
            return nil
        }
    }

    static func entries(
        of ids: [DataKeyID], in schema: String, over connection: PostgresConnection
    ) throws(PostgresError) -> [DataKeyID: Entry] {
        let rows = try connection.query(
            """
            SELECT id, wrapped, reason, destroyed_at FROM \(unsafe: schema).data_keys
            WHERE id = ANY (\(ids.map { PostgresUUID($0.bytes) }))
            """
        ).decode(PostgresUUID.self, [UInt8]?.self, String?.self, PostgresTimestamp?.self)
        var entries: [DataKeyID: Entry] = [:]
        for (id, wrapped, reason, destroyedAt) in rows {
            if let id = DataKeyID(bytes: id.bytes) {
                entries[id] = Entry(wrapped: wrapped, reason: reason, destroyedAt: destroyedAt)
            }
        }
        return entries
    }

    /// Once more over a new connection, where the old one broke meanwhile.
    private func attempt<Value>(
        _ body: (PostgresConnection) throws(PostgresError) -> Value
    ) throws(PostgresError) -> Value {
        let isNew = connection == nil
        do throws(PostgresError) {
            let current: PostgresConnection
            if let connection { current = connection } else { current = try PostgresConnection(database) }
            connection = current
            return try body(current)
        } catch {
            connection?.close()
            connection = nil
            guard error.isRetriable, !isNew else { throw error }
            return try attempt(body)
        }
    }
}

/// Which members of an event are encrypted under a data key, and which key that is.
struct SealedContent {
    private(set) var fields: [(name: String, field: PersonalField, ciphertext: Ciphertext)] = []
    /// The key, where the event names it.
    private(set) var key: DataKeyID?
    /// Whose key it is otherwise: the user, or the onboarding session.
    private(set) var owner: [UInt8]?

    init(_ event: EventEnvelope) {
        guard let json = try? JSON.parse(event.body.data) else { return }
        look(at: json, "")
        if fields.isEmpty || key != nil { return }
        let names = EventNames(event)
        owner = names.users.first?.bytes ?? names.onboarding.first?.bytes
        // Of an onboarding session, which is in the target and nowhere else.
        if names.users.isEmpty, owner == nil { owner = event.body.subject.flatMap { OnboardingSessionID($0) }?.bytes }
    }

    private mutating func look(at json: JSON, _ path: String) {
        guard let object = json.object else { return }
        for (name, value) in object {
            let full = path.isEmpty || name != "client" && path == "data" ? name : "\(path).\(name)"
            switch (name, value) {
            case ("dataKey", .string(let text)): key = DataKeyID(text)
            case ("identifier", .string(let text)): note(full, .identifier, text)
            case ("passwordHash", .string(let text)), ("rehash", .string(let text)): note(full, .passwordHash, text)
            case ("profile", .string(let text)): note(full, .profile, text)
            case ("client", .string(let text)): note("client", .client, text)
            case (_, .object): look(at: value, name)
            default: break
            }
        }
    }

    private mutating func note(_ name: String, _ field: PersonalField, _ text: String) {
        if let ciphertext = Ciphertext(text) { fields.append((name, field, ciphertext)) }
    }
}
