/// Ids in queue order. The cost of a removal does not depend on the length of the queue: a removed id leaves a hole, and the
/// holes are closed when there are more holes than ids.
struct QueueOrder: Sendable {
    private var ids: [String?] = []
    private var places: [String: Int] = [:]
    /// The position of the first id.
    private(set) var start = 0

    var count: Int { places.count }
    var isEmpty: Bool { places.isEmpty }
    var first: String? { start < ids.count ? ids[start] : nil }
    /// The position after the last one.
    var end: Int { ids.count }

    /// The id at a position; nil for a hole.
    subscript(position: Int) -> String? { ids[position] }

    func position(of id: String) -> Int? { places[id] }

    /// Inserts an id after the last id for which `precedes` is true. Returns true when that is the end.
    @discardableResult
    mutating func insert(_ id: String, behind precedes: (String) -> Bool) -> Bool {
        var at = ids.count
        while at > start {
            if let other = ids[at - 1], precedes(other) { break }
            at -= 1
        }
        // Only holes follow, so this is the end.
        if ids[at...].allSatisfy({ $0 == nil }) {
            places[id] = ids.count
            ids.append(id)
            return true
        }
        ids.insert(id, at: at)
        close()
        return false
    }

    mutating func remove(_ gone: Set<String>) {
        for id in gone {
            if let at = places.removeValue(forKey: id) { ids[at] = nil }
        }
        while start < ids.count, ids[start] == nil { start += 1 }
        if ids.count > 2 * places.count + 64 { close() }
    }

    private mutating func close() {
        ids.removeAll { $0 == nil }
        start = 0
        for (place, id) in ids.enumerated() {
            if let id { places[id] = place }
        }
    }
}
