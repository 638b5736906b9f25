internal import EventLog

/// Branches of a chain, as far as hashes alone can tell them apart: the longest is taken for the chain.
struct BranchTree: Sendable {
    private struct Branch: Sendable {
        /// Events since it parted from the chain, the newest last.
        var heads: [ChainHead]
    }

    enum Side {
        /// The record stands in the chain, or beside it, already.
        case copy
        /// The first of a branch, beside the record at this offset.
        case fork(Int64)
        case branch
        /// The branch is the longest now: these are its events since it parted.
        case overtaken([ChainHead])
        /// It goes on from nothing that is known.
        case stranger
    }

    private var head: ChainHead
    private var branches: [Branch] = []
    /// The newest records of all branches, and the first record after each.
    private var known: [[UInt8]: (sequence: Int64, child: Int64?)] = [:]
    private var order: [[UInt8]] = []

    init(_ genesis: ChainHead) {
        head = genesis
        remember(genesis)
    }

    private mutating func remember(_ head: ChainHead) {
        known[head.hash] = (head.sequence, nil)
        order.append(head.hash)
        guard order.count > 2 * ChainWalk.window else { return }
        for hash in order.prefix(ChainWalk.window) { known[hash] = nil }
        order.removeFirst(ChainWalk.window)
        branches.removeAll { ($0.heads.last?.sequence ?? 0) < head.sequence - Int64(ChainWalk.window) }
    }

    /// The new head, if the record goes on from the head that was.
    mutating func main(takes sequence: Int64, _ previous: [UInt8], _ hash: [UInt8], at offset: Int64) -> ChainHead? {
        guard previous == head.hash, sequence == head.sequence + 1 else { return nil }
        known[previous]?.child = offset
        head = ChainHead(sequence: sequence, hash: hash, offset: offset, key: head.key)
        remember(head)
        return head
    }

    /// What a record is that does not go on from the head.
    mutating func side(takes sequence: Int64, _ previous: [UInt8], _ hash: [UInt8], at offset: Int64) -> Side {
        if known[hash] != nil { return .copy }
        let next = ChainHead(sequence: sequence, hash: hash, offset: offset, key: head.key)
        if let index = branches.firstIndex(where: { $0.heads.last?.hash == previous && $0.heads.last?.sequence == sequence - 1 })
        {
            branches[index].heads.append(next)
            known[previous]?.child = offset
            remember(next)
            guard sequence > head.sequence else { return .branch }
            let heads = branches.remove(at: index).heads
            head = next
            return .overtaken(heads)
        }
        guard let parent = known[previous], parent.sequence == sequence - 1 else { return .stranger }
        branches.append(Branch(heads: [next]))
        remember(next)
        return .fork(parent.child ?? offset)
    }
}
