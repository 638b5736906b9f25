/// Variables of one part of Latchkey that reach all the others too, because `compose/up` hands its environment on.
enum SharedNames {
    static let all: Set<String> = [
        "LATCHKEY_ADDRESS", "LATCHKEY_BIN", "LATCHKEY_DATABASE_URL", "LATCHKEY_DATABASE_URL_FILE", "LATCHKEY_ENV",
        "LATCHKEY_KAFKA_*", "LATCHKEY_LOG", "LATCHKEY_LOG_DATABASE_URL", "LATCHKEY_LOG_DATABASE_URL_FILE", "LATCHKEY_LOG_LEVEL",
        "LATCHKEY_LOG_MAC_KEYS", "LATCHKEY_LOG_MAC_KEYS_FILE", "LATCHKEY_OPERATIONS_PORT", "LATCHKEY_PARTITIONS",
        "LATCHKEY_PORT", "LATCHKEY_ROUTING_SECRET", "LATCHKEY_ROUTING_SECRET_FILE", "LATCHKEY_STATE", "LATCHKEY_SWIFT",
        "LATCHKEY_TEST_KAFKA", "LATCHKEY_TEST_POSTGRES",
    ]
}

/// How many letters have to be put in, taken out or changed to make one word of another.
enum EditDistance {
    static func between(_ left: String, _ right: String) -> Int {
        let right = Array(right.utf8)
        var row = Array(0...right.count)
        for (index, letter) in left.utf8.enumerated() {
            var diagonal = row[0]
            row[0] = index + 1
            for column in right.indices {
                let changed = diagonal + (letter == right[column] ? 0 : 1)
                diagonal = row[column + 1]
                row[column + 1] = min(changed, row[column] + 1, row[column + 1] + 1)
            }
        }
        return row[right.count]
    }
}
