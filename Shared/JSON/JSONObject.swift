/// The members of a JSON object, in the order in which they were added. Names are the same if their bytes are: unlike
/// `String`, no Unicode equivalence makes two of them one. Two objects are equal whatever the order of their members.
public struct JSONObject: Sendable {
    private var names: [Name] = []
    private var values: [JSON] = []
    /// Where each name stands; only for objects too large to look through.
    private var places: [Name: Int] = [:]

    /// Up to here looking through is faster than hashing.
    private static let looked = 16

    public init() {}

    /// - Precondition: no name twice.
    public init(_ members: some Sequence<(String, JSON)>) {
        for (name, value) in members {
            precondition(append(value, for: name), "a name stands twice in one object")
        }
    }

    public var isEmpty: Bool { names.isEmpty }

    public var keys: some Sequence<String> { names.lazy.map(\.text) }

    /// `nil` if there is no such member. Setting `nil` removes it; setting a value keeps its place, or adds it at the end.
    public subscript(_ key: String) -> JSON? {
        get { place(of: Name(text: key)).map { values[$0] } }
        set {
            let place = place(of: Name(text: key))
            switch (place, newValue) {
            case (let place?, let value?): values[place] = value
            case (let place?, nil): remove(at: place)
            case (nil, let value?): add(value, for: Name(text: key))
            case (nil, nil): break
            }
        }
    }

    /// Adds a member at the end and says so, or returns `false` because there is one of that name.
    mutating func append(_ value: JSON, for key: String) -> Bool {
        let name = Name(text: key)
        if place(of: name) != nil { return false }
        add(value, for: name)
        return true
    }

    private func place(of name: Name) -> Int? {
        places.isEmpty ? names.firstIndex(of: name) : places[name]
    }

    private mutating func add(_ value: JSON, for name: Name) {
        if !places.isEmpty { places[name] = names.count }
        names.append(name)
        values.append(value)
        if places.isEmpty, names.count > Self.looked { index() }
    }

    private mutating func remove(at place: Int) {
        names.remove(at: place)
        values.remove(at: place)
        places = [:]
        if names.count > Self.looked { index() }
    }

    private mutating func index() {
        places.reserveCapacity(names.count * 2)
        for (place, name) in names.enumerated() { places[name] = place }
    }
}

/// A name that is compared by its bytes.
private struct Name: Hashable, Sendable {
    var text: String

    static func == (left: Name, right: Name) -> Bool {
        left.text.utf8.count == right.text.utf8.count && left.text.utf8.elementsEqual(right.text.utf8)
    }

    func hash(into hasher: inout Hasher) {
        var text = text
        text.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
    }
}

extension JSONObject: RandomAccessCollection {
    public var startIndex: Int { 0 }
    public var endIndex: Int { names.count }
    public subscript(position: Int) -> (key: String, value: JSON) { (names[position].text, values[position]) }
}

extension JSONObject: ExpressibleByDictionaryLiteral {
    public init(dictionaryLiteral elements: (String, JSON)...) { self.init(elements) }
}

extension JSONObject: Hashable {
    public static func == (left: JSONObject, right: JSONObject) -> Bool {
        left.count == right.count && left.allSatisfy { right[$0.key] == $0.value }
    }

    public func hash(into hasher: inout Hasher) {
        // Exclusive or: the order of the members must not matter.
        var all = 0
        for (name, value) in zip(names, values) {
            var member = Hasher()
            member.combine(name)
            member.combine(value)
            all ^= member.finalize()
        }
        hasher.combine(count)
        hasher.combine(all)
    }
}
