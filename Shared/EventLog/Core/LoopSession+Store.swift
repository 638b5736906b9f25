/// What a session asks the store, for several partitions at once.
extension LoopSession {
    mutating func readCheckpoints(of partitions: [Int]) throws(LogError) -> [Int: Checkpoint?] {
        let store = driver.store
        return try ask(Dictionary(uniqueKeysWithValues: partitions.map { ($0, ()) })) { asked throws(LogError) in
            let stored = try store.checkpoints(of: asked.keys.sorted())
            return Dictionary(uniqueKeysWithValues: asked.keys.map { ($0, stored[$0]) })
        }
    }

    /// Projects for all partitions together.
    mutating func project() throws(LogError) -> [(key: Int, value: ProjectionOutcome)] {
        let store = driver.store
        let outcomes = try ask(projections) { batches throws(LogError) in try store.project(batches) }
        projections.removeAll()
        return outcomes.sorted { $0.key < $1.key }
    }

    /// Loads for all partitions together.
    mutating func load() throws(LogError) -> [(key: Int, value: LoadedBatch<Domain.Key, Domain.Aggregate>)] {
        let store = driver.store
        let loaded = try ask(loads) { requests throws(LogError) in try store.load(requests) }
        loads.removeAll()
        return loaded.sorted { $0.key < $1.key }
    }

    /// Asks the store for several partitions at once. Where it can never do what it is asked, the partition that this belongs to
    /// stands still, loudly, and the others go on.
    private mutating func ask<Request, Result>(
        _ requests: [Int: Request], _ body: ([Int: Request]) throws(LogError) -> [Int: Result]
    ) throws(LogError) -> [Int: Result] {
        if requests.isEmpty { return [:] }
        do throws(LogError) {
            return try body(requests)
        } catch {
            guard !error.passes else { throw error }
            if requests.count == 1, let partition = requests.keys.first {
                stop(partition, because: error)
                return [:]
            }
        }
        var results: [Int: Result] = [:]
        for (partition, request) in requests.sorted(by: { $0.key < $1.key }) {
            results.merge(try ask([partition: request], body)) { first, _ in first }
        }
        return results
    }
}
