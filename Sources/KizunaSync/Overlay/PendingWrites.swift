package import KizunaCore
package import KizunaStore

/// The queued writes of one table in queue order, found by id and by the keys they name.
///
/// Adding one costs no look-up: where a write stands is noted when one is next looked for.
package struct PendingWrites: Sendable {
    /// Those that left are holes, so that places stay valid.
    private var entries: [QueuedMutation?] = []
    /// How many of `entries` are there.
    private var count = 0
    /// How many places at the beginning are noted below.
    private var recordedPlaces = 0
    private var places: [String: Int] = [:]
    private var byKey: [RowKey: [Int]] = [:]

    package init() {}

    package init(_ entries: [QueuedMutation]) {
        for entry in entries { append(entry) }
    }

    package var isEmpty: Bool { count == 0 }

    /// All in order.
    package var all: [QueuedMutation] { entries.compactMap { $0 } }

    package mutating func append(_ entry: QueuedMutation) {
        entries.append(entry)
        count += 1
    }

    /// Takes a write out; nil when it is not there.
    @discardableResult
    package mutating func remove(_ id: String) -> QueuedMutation? {
        recordPlaces()
        guard let at = places.removeValue(forKey: id), let entry = entries[at] else { return nil }
        entries[at] = nil
        count -= 1
        forget(entry, at)
        if entries.count > 2 * count + 64 { self = PendingWrites(all) }
        return entry
    }

    /// Puts another write in the place of the one of the same id; false when there is none.
    package mutating func replace(_ entry: QueuedMutation) -> Bool {
        recordPlaces()
        guard let at = places[entry.id], let previous = entries[at] else { return false }
        forget(previous, at)
        entries[at] = entry
        for key in entry.rowKeys { byKey[key] = ((byKey[key] ?? []) + [at]).sorted() }
        return true
    }

    /// Those that name one of these keys, in order.
    package mutating func naming(_ keys: Set<RowKey>) -> [QueuedMutation] {
        recordPlaces()
        var found: Set<Int> = []
        for key in keys { found.formUnion(byKey[key] ?? []) }
        return found.sorted().compactMap { entries[$0] }
    }

    private mutating func recordPlaces() {
        for at in recordedPlaces..<entries.count {
            guard let entry = entries[at] else { continue }
            places[entry.id] = at
            for key in entry.rowKeys { byKey[key, default: []].append(at) }
        }
        recordedPlaces = entries.count
    }

    private mutating func forget(_ entry: QueuedMutation, _ at: Int) {
        for key in entry.rowKeys {
            byKey[key]?.removeAll { $0 == at }
            if byKey[key]?.isEmpty ?? false { byKey[key] = nil }
        }
    }
}
