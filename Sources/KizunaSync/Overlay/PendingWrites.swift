package import KizunaCore
package import KizunaStore

/// The queued mutations of one table in queue order, with an index by id and by the keys they name.
///
/// `append` does not update the index, so that it stays cheap; the next look-up does.
package struct PendingWrites: Sendable {
    /// Nil in the place of a removed mutation, so that the index stays valid.
    private var entries: [QueuedMutation?] = []
    /// The number of entries that are not nil.
    private var count = 0
    /// The number of places, from the beginning, that the index contains.
    private var indexedCount = 0
    private var places: [String: Int] = [:]
    private var byKey: [RowKey: [Int]] = [:]

    package init() {}

    package init(_ entries: [QueuedMutation]) {
        for entry in entries { append(entry) }
    }

    package var isEmpty: Bool { count == 0 }

    /// All mutations in queue order.
    package var all: [QueuedMutation] { entries.compactMap { $0 } }

    package mutating func append(_ entry: QueuedMutation) {
        entries.append(entry)
        count += 1
    }

    /// Removes and returns a mutation; nil if there is none with this id.
    @discardableResult
    package mutating func remove(_ id: String) -> QueuedMutation? {
        updateIndex()
        guard let at = places.removeValue(forKey: id), let entry = entries[at] else { return nil }
        entries[at] = nil
        count -= 1
        removeFromIndex(entry, at)
        if entries.count > 2 * count + 64 { self = PendingWrites(all) }
        return entry
    }

    /// Replaces the mutation with the same id.
    ///
    /// - Returns: False if there is none.
    package mutating func replace(_ entry: QueuedMutation) -> Bool {
        updateIndex()
        guard let at = places[entry.id], let previous = entries[at] else { return false }
        removeFromIndex(previous, at)
        entries[at] = entry
        for key in entry.rowKeys { byKey[key] = ((byKey[key] ?? []) + [at]).sorted() }
        return true
    }

    /// Returns the mutations that name one of these keys, in queue order.
    package mutating func naming(_ keys: Set<RowKey>) -> [QueuedMutation] {
        updateIndex()
        var found: Set<Int> = []
        for key in keys { found.formUnion(byKey[key] ?? []) }
        return found.sorted().compactMap { entries[$0] }
    }

    private mutating func updateIndex() {
        for at in indexedCount..<entries.count {
            guard let entry = entries[at] else { continue }
            places[entry.id] = at
            for key in entry.rowKeys { byKey[key, default: []].append(at) }
        }
        indexedCount = entries.count
    }

    private mutating func removeFromIndex(_ entry: QueuedMutation, _ at: Int) {
        for key in entry.rowKeys {
            byKey[key]?.removeAll { $0 == at }
            if byKey[key]?.isEmpty ?? false { byKey[key] = nil }
        }
    }
}
