internal import KizunaCore

// The rows of cached lists: writing what an answer or an accepted write changes, and nothing else.

extension OwnerStore {
    /// Where the stored rows of a list stand in an answer.
    private struct Matching {
        /// The slot of each of the answer's rows, nil for one that is not stored.
        var slots: [Int64?]
        /// Whether the stored bytes of a row differ.
        var isRewritten: [Bool]
        /// Stored rows the answer does not hold, with the hash of their key.
        var obsolete: [(slot: Int64, hash: UInt64?)] = []
    }

    /// Writes the difference between the stored rows and the answer's; returns the answer's rows' slots, in order.
    func replaceRows(of list: Int64, isNew: Bool, with response: CachedQueryResponse) throws(SyncError) -> [Int64] {
        var nextSlot = isNew ? 0 : try lists.layout(of: list).nextSlot
        var matching = Matching(
            slots: Array(repeating: nil, count: response.rows.count),
            isRewritten: Array(repeating: false, count: response.rows.count))
        if !isNew { try match(response, with: list, &matching) }
        for row in matching.obsolete {
            try rows.delete(list: list, slot: row.slot)
            if let hash = row.hash { keyPlaces[response.table]?.remove(hash, RowsTable.id(list: list, slot: row.slot)) }
        }
        let isFollowed = keyPlaces[response.table] != nil
        let inserter = try rows.inserter()
        var order: [Int64] = []
        order.reserveCapacity(response.rows.count)
        try response.body.withUnsafeBufferPointerThrowing { (body) throws(SyncError) in
            for (index, row) in response.rows.enumerated() {
                let known = matching.slots[index]
                let slot = known ?? nextSlot
                order.append(slot)
                if known != nil, !matching.isRewritten[index] { continue }
                let id = RowsTable.id(list: list, slot: slot)
                if known == nil {
                    nextSlot += 1
                    if isFollowed, let key = row.key { keyPlaces[response.table]?.add(KeyPlaces.hash(key), id) }
                }
                try inserter.insertRow(
                    id: id, key: row.key?.text, body: UnsafeBufferPointer(rebasing: body[row.range]))
                rowsWritten += 1
            }
        }
        try lists.setLayout(of: list, nextSlot: nextSlot, order: SlotOrder.stored(order))
        return order
    }

    /// Finds the stored rows in the answer by their keys. Most stand in the same order there as here, so the next one is
    /// looked at first, and the keys are indexed only when it is another.
    private func match(_ response: CachedQueryResponse, with list: Int64, _ matching: inout Matching) throws(SyncError)
    {
        var byKey: [RowKey: Int]?
        var next = 0
        try response.body.withUnsafeBufferPointerThrowing { (body) throws(SyncError) in
            _ = try rows.each(of: list) { (row) throws(SyncError) in
                let slot = row.integer(0) % RowsTable.slotsPerList
                guard !row.isNull(1) else {
                    matching.obsolete.append((slot, nil))
                    return
                }
                var index: Int? = next
                if next >= response.rows.count || matching.slots[next] != nil || !row.holdsKey(response.rows[next].key)
                {
                    if byKey == nil { byKey = Self.firstPlaces(of: response.rows) }
                    index = byKey?[RowKey(text: row.text(1))].flatMap { matching.slots[$0] == nil ? $0 : nil }
                }
                guard let index else {
                    matching.obsolete.append((slot, row.withBytes(1) { ByteWords.hash($0) }))
                    return
                }
                next = index + 1
                matching.slots[index] = slot
                if !row.holds(2, UnsafeBufferPointer(rebasing: body[response.rows[index].range])) {
                    matching.isRewritten[index] = true
                }
            }
        }
    }

    private static func firstPlaces(of rows: [JSONArraySplitter.CutRow]) -> [RowKey: Int] {
        var places: [RowKey: Int] = [:]
        places.reserveCapacity(rows.count)
        for (index, row) in rows.enumerated() {
            if let key = row.key, places[key] == nil { places[key] = index }
        }
        return places
    }

    /// Changes a cached list of a table; `carrying` are the rows that carry the keys of the edit, in all lists.
    func apply(
        _ edit: CachedQueryEdit, to list: Int64, of table: TableID,
        carrying: [RowKey: [(list: Int64, slot: Int64, json: RawJSON)]]
    ) throws(SyncError) {
        var carrying = carrying
        let unknown = (edit.replaced.map(\.key) + edit.removed).filter { carrying[$0] == nil }
        if !unknown.isEmpty {
            carrying.merge(try rowsCarrying(unknown, in: try keyPlaces(of: table))) { known, _ in known }
        }
        for row in edit.replaced {
            for place in carrying[row.key] ?? [] where place.list == list {
                try rows.put(list: list, slot: place.slot, key: row.key, json: row.json)
                rowsWritten += 1
            }
        }
        for key in edit.removed {
            for place in carrying[key] ?? [] where place.list == list {
                try rows.delete(list: list, slot: place.slot)
                keyPlaces[table]?.remove(KeyPlaces.hash(key), RowsTable.id(list: list, slot: place.slot))
            }
        }
        if !edit.appended.isEmpty {
            var (nextSlot, order) = try lists.layout(of: list)
            for row in edit.appended {
                try rows.put(list: list, slot: nextSlot, key: row.key, json: row.json)
                keyPlaces[table]?.add(KeyPlaces.hash(row.key), RowsTable.id(list: list, slot: nextSlot))
                rowsWritten += 1
                order?.append(nextSlot)
                nextSlot += 1
            }
            try lists.setLayout(of: list, nextSlot: nextSlot, order: order)
        }
        if edit.becomesStale {
            try lists.setStale(list, version: nextVersion())
        } else {
            try lists.setVersion(list, nextVersion())
        }
    }
}

extension SQLiteStatement {
    /// Whether the second column holds this key.
    fileprivate func holdsKey(_ key: RowKey?) -> Bool {
        guard let key else { return false }
        return withBytes(1) { cell in key.withBytes { ByteWords.areEqual(cell, $0) } }
    }
}
