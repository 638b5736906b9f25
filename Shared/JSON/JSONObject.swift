/// The members of a JSON object, in the order in which they were added. Names are the same if their bytes are: unlike
/// `String`, no Unicode equivalence makes two of them one. Two objects are equal whatever the order of their members.
public struct JSONObject: Sendable {
    private var members: [Member] = []
    /// Where each name stands; only for objects too large to look through.
    private var places: [Name: Int] = [:]

    private struct Member: Sendable {
        var name: Name
        var value: JSON
    }

    /// Up to here looking through is faster than hashing.
    private static let looked = 16

    public init() {}

    /// - Parameter capacity: how many members it takes without growing.
    init(capacity: Int) { members.reserveCapacity(capacity) }

    /// - Precondition: no name twice.
    public init(_ members: some Sequence<(String, JSON)>) {
        for (name, value) in members {
            precondition(append(value, for: name), "a name stands twice in one object")
        }
    }

    public var isEmpty: Bool { members.isEmpty }

    public var keys: some Sequence<String> { members.lazy.map(\.name.text) }

    /// `nil` if there is no such member. Setting `nil` removes it; setting a value keeps its place, or adds it at the end.
    public subscript(_ key: String) -> JSON? {
        get { place(of: Name(text: key)).map { members[$0].value } }
        set {
            let place = place(of: Name(text: key))
            switch (place, newValue) {
            case (let place?, let value?): members[place].value = value
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
        guard places.isEmpty else { return places[name] }
        return members.withUnsafeBufferPointer { members in
            guard var member = members.baseAddress else { return nil }
            for place in 0..<members.count {
                // Through the pointer: to take a member out would copy it.
                if member.pointee.name == name { return place }
                member += 1
            }
            return nil
        }
    }

    private mutating func add(_ value: JSON, for name: Name) {
        if !places.isEmpty { places[name] = members.count }
        members.append(Member(name: name, value: value))
        if places.isEmpty, members.count > Self.looked { index() }
    }

    private mutating func remove(at place: Int) {
        members.remove(at: place)
        places = [:]
        if members.count > Self.looked { index() }
    }

    private mutating func index() {
        places.reserveCapacity(members.count * 2)
        for (place, member) in members.enumerated() { places[member.name] = place }
    }
}

/// A name that is compared by its bytes.
private struct Name: Hashable, Sendable {
    let text: String
    /// Names that differ in it are not the same: most comparisons end here. FNV-1a in 64 bits, of which the last says whether
    /// there is anything but ASCII.
    let mark: UInt64

    init(text: String) {
        var (text, mark, high) = (text, 0xcbf2_9ce4_8422_2325 as UInt64, 0 as UInt8)
        text.withUTF8 { bytes in
            for byte in bytes {
                mark = (mark ^ UInt64(byte)) &* 0x100_0000_01b3
                high |= byte
            }
        }
        self.text = text
        self.mark = mark & ~1 | UInt64(high >> 7)
    }

    static func == (left: Name, right: Name) -> Bool {
        guard left.mark == right.mark, left.text == right.text else { return false }
        // Only in ASCII are texts that count as the same the same bytes.
        return left.mark & 1 == 0 || left.text.utf8.elementsEqual(right.text.utf8)
    }

    /// By the bytes, and not by the mark: anybody can find names with the same one.
    func hash(into hasher: inout Hasher) {
        var text = text
        text.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
    }
}

extension JSONObject: RandomAccessCollection {
    public var startIndex: Int { 0 }
    public var endIndex: Int { members.count }
    public subscript(position: Int) -> (key: String, value: JSON) { (members[position].name.text, members[position].value) }
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
        for member in members {
            var hash = Hasher()
            hash.combine(member.name)
            hash.combine(member.value)
            all ^= hash.finalize()
        }
        hasher.combine(count)
        hasher.combine(all)
    }
}
