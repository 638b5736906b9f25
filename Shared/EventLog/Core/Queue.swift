/// First in, first out, without moving what stays.
struct Queue<Element: Sendable>: Sendable, Sequence {
    private var elements: [Element?] = []
    private var start = 0

    init() {}

    init(_ elements: [Element]) { self.elements = elements }

    var count: Int { elements.count - start }
    var isEmpty: Bool { start == elements.count }
    var first: Element? { isEmpty ? nil : elements[start] }

    var last: Element? {
        get { isEmpty ? nil : elements[elements.count - 1] }
        set { if !isEmpty, let newValue { elements[elements.count - 1] = newValue } }
    }

    mutating func append(_ element: Element) { elements.append(element) }

    @discardableResult
    mutating func removeFirst() -> Element? {
        guard !isEmpty else { return nil }
        let element = elements[start]
        elements[start] = nil
        start += 1
        if start > 64, start * 2 > elements.count {
            elements.removeFirst(start)
            start = 0
        }
        return element
    }

    mutating func removeAll() {
        elements.removeAll(keepingCapacity: true)
        start = 0
    }

    func makeIterator() -> some IteratorProtocol<Element> { elements[start...].lazy.compactMap { $0 }.makeIterator() }
}
