internal import KizunaCore

/// Where the keys of one table's cached rows stand, in all lists: found without reading a list.
///
/// It holds hashes, not keys, so that a large table costs little; whoever looks up a place compares the row's key.
struct KeyPlaces {
    /// Ids of rows by the hash of their key.
    private var first: [UInt64: Int64] = [:]
    /// Further rows of the same hash.
    private var others: [UInt64: [Int64]] = [:]
    /// Lists whose rows carry the table's own column names.
    var plainLists: Set<Int64> = []

    static func hash(_ key: RowKey) -> UInt64 { key.withBytes { ByteWords.hash($0) } }

    /// Ascending.
    func ids(_ hash: UInt64) -> [Int64] {
        guard let id = first[hash] else { return [] }
        guard !others.isEmpty, let others = others[hash] else { return [id] }
        return ([id] + others).sorted()
    }

    mutating func add(_ hash: UInt64, _ id: Int64) {
        if first[hash] == nil { first[hash] = id } else { others[hash, default: []].append(id) }
    }

    mutating func remove(_ hash: UInt64, _ id: Int64) {
        if first[hash] == id {
            first[hash] = others[hash]?.popLast()
        } else {
            others[hash]?.removeAll { $0 == id }
        }
        if others[hash]?.isEmpty ?? false { others[hash] = nil }
    }
}
