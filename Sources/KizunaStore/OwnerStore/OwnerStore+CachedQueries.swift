package import Foundation
package import KizunaCore

// Cached lists: reading them, storing a server answer over them, editing them when a write is accepted.

/// A server answer, cut into rows, on its way into the store.
package struct CachedQueryResponse: Sendable {
    package let cacheKey: String
    package let table: TableID
    /// Whether the request shows rows of another table inside its own; that table's mark counts too.
    package let mayShow: @Sendable (TableID) -> Bool
    package let parameters: [QueuedMutation.Filter]
    package let body: [UInt8]
    package let rows: [JSONArraySplitter.CutRow]
    package let isComplete: Bool
    package let hasPlainColumns: Bool
    /// Taken before the request left.
    package let askedAt: LogicalTime
    /// The same moment by the machine's clock, which other processes read too.
    package let askedSinceBoot: Duration
    package let fetchedAt: Date

    package init(
        cacheKey: String, table: TableID, mayShow: @escaping @Sendable (TableID) -> Bool = { _ in false },
        parameters: [QueuedMutation.Filter], body: [UInt8], rows: [JSONArraySplitter.CutRow], isComplete: Bool = true,
        hasPlainColumns: Bool = true, askedAt: LogicalTime, askedSinceBoot: Duration = .zero, fetchedAt: Date
    ) {
        self.cacheKey = cacheKey
        self.table = table
        self.mayShow = mayShow
        self.parameters = parameters
        self.body = body
        self.rows = rows
        self.isComplete = isComplete
        self.hasPlainColumns = hasPlainColumns
        self.askedAt = askedAt
        self.askedSinceBoot = askedSinceBoot
        self.fetchedAt = fetchedAt
    }
}

extension OwnerStore {
    /// The cached list of a request, nil when nothing is known of it.
    package func list(cacheKey: String, usedAt: Date) throws(SyncError) -> CachedQuery? {
        let list = try reading { () throws(SyncError) in try storedList(cacheKey: cacheKey) }
        note(list, usedAt: usedAt)
        return list
    }

    func storedList(cacheKey: String) throws(SyncError) -> CachedQuery? {
        guard let head = try lists.head(cacheKey: cacheKey) else { return nil }
        return CachedQuery(head: head, rows: try orderedRows(of: head.id))
    }

    /// Notes that a list was used. A reader does not wait for that where another process writes.
    private func note(_ list: CachedQuery?, usedAt: Date) {
        guard let id = list?.head.id else { return }
        connection.attempt { () throws(SyncError) in
            try lists.setUsed(id, at: usedAt, by: sharing?.host.number ?? 0)
        }
    }

    /// Hands over what a live read begins with. `deliver` runs on this actor, so that it stands in line with the
    /// changes: those before it are part of the image, those after it are not.
    package func deliverSnapshot(
        cacheKey: String, table: TableID, embedding: (@Sendable (TableID) -> Bool)? = nil, usedAt: Date,
        deliver: @Sendable (CachedQuerySnapshot) -> Void
    ) throws(SyncError) {
        deliver(try image(cacheKey: cacheKey, table: table, embedding: embedding, usedAt: usedAt))
    }

    /// What is stored for a request and queued for its table, all of one moment. `embedding` tells the other tables whose
    /// rows the request shows, nil where there are none.
    package func image(
        cacheKey: String, table: TableID, embedding: (@Sendable (TableID) -> Bool)? = nil, usedAt: Date
    ) throws(SyncError) -> CachedQuerySnapshot {
        let image = try reading { () throws(SyncError) in
            let entries = try queue.all(of: table)
            return CachedQuerySnapshot(
                list: try storedList(cacheKey: cacheKey), entries: entries,
                known: try knownRows(of: table, for: entries),
                rejected: try rejections.all().filter { $0.entry.table == table },
                embeddedWrites: try embedding.map { (mayShow) throws(SyncError) in try queue.ids(where: mayShow) } ?? []
            )
        }
        note(image.list, usedAt: usedAt)
        return image
    }

    /// By table: the cached rows that these writes may change.
    func knownRows(for entries: [QueuedMutation]) throws(SyncError) -> [TableID: [RowKey: RawJSON?]] {
        var known: [TableID: [RowKey: RawJSON?]] = [:]
        for (table, writes) in Dictionary(grouping: entries, by: \.table) {
            known[table] = try knownRows(of: table, for: writes)
        }
        return known
    }

    /// The cached rows of a table that these writes may change, each key once, for updates that make a row enter a list
    /// which never held it.
    func knownRows(of table: TableID, for entries: [QueuedMutation]) throws(SyncError) -> [RowKey: RawJSON] {
        var keys = entries.touchedKeys
        let reaches = entries.compactMap(reach)
        guard !keys.isEmpty || !reaches.isEmpty else { return [:] }
        let places = try keyPlaces(of: table)
        for list in reaches.isEmpty ? [] : places.plainLists.sorted() {
            _ = try rows.each(of: list) { (statement) throws(SyncError) in
                let row = RowsTable.row(statement)
                if let key = row.key, reaches.contains(where: { $0(row.json) }) { keys.append(key) }
            }
        }
        var known: [RowKey: RawJSON] = [:]
        for (key, rows) in try rowsCarrying(keys, in: places) {
            for row in rows where places.plainLists.contains(row.list) {
                // The row with the most columns knows most.
                if let other = known[key], other.bytes.count >= row.json.bytes.count { continue }
                known[key] = row.json
            }
        }
        return known
    }

    /// The cached rows that carry these keys, in all lists of the table.
    func rowsCarrying(
        _ keys: [RowKey], in places: KeyPlaces
    ) throws(SyncError) -> [RowKey: [(list: Int64, slot: Int64, json: RawJSON)]] {
        var found: [RowKey: [(list: Int64, slot: Int64, json: RawJSON)]] = [:]
        for key in keys where found[key] == nil {
            for id in places.ids(KeyPlaces.hash(key)) {
                guard let row = try rows.row(id: id), row.key == key else { continue }
                found[key, default: []].append((id / RowsTable.slotsPerList, row.slot, row.json))
            }
        }
        return found
    }

    /// Where each key of a table stands in all lists; made when first needed, and kept up to date from then on.
    func keyPlaces(of table: TableID) throws(SyncError) -> KeyPlaces {
        if let places = keyPlaces[table] { return places }
        var places = KeyPlaces()
        for head in try lists.heads(of: table) {
            if head.hasPlainColumns { places.plainLists.insert(head.id) }
            _ = try rows.each(of: head.id) { (row) throws(SyncError) in
                if !row.isNull(1) { places.add(row.withBytes(1) { ByteWords.hash($0) }, row.integer(0)) }
            }
        }
        keyPlaces[table] = places
        return places
    }

    /// Stores an answer as the list of its request, unless it is older than what the device knows (docs/spec/reads.md,
    /// Order of responses and changes). Rows whose bytes did not change are not written.
    package func store(_ response: CachedQueryResponse) throws(SyncError) -> ResponseOutcome {
        try commit { (change) throws(SyncError) in
            let known = try lists.head(cacheKey: response.cacheKey)
            if let outcome = try rejection(of: response, over: known) {
                change.isSilent = true
                return outcome
            }
            let id: Int64
            if let known {
                id = known.id
            } else {
                id = try lists.insert(
                    cacheKey: response.cacheKey, table: response.table, parameters: response.parameters,
                    hasPlainColumns: response.hasPlainColumns, at: response.fetchedAt)
            }
            let slots = try replaceRows(of: id, isNew: known == nil, with: response)
            if response.hasPlainColumns { keyPlaces[response.table]?.plainLists.insert(id) }
            try lists.setFetched(
                id, at: response.fetchedAt, isComplete: response.isComplete, bytes: response.body.count,
                version: nextVersion(), askedAt: response.askedSinceBoot, usedBy: sharing?.host.number ?? 0)
            answered[response.cacheKey] = response.askedAt
            guard let head = try lists.head(cacheKey: response.cacheKey) else { return .stored }
            let stored = StoredRows(body: response.body, cuts: response.rows, slots: slots)
            change.lists[response.cacheKey] = .replaced(
                CachedQuery(head: head, rows: stored), askedAt: response.askedAt)
            change.changedTables = [response.table]
            return .stored
        }
    }

    /// Why an answer is not stored, nil where it is.
    private func rejection(of response: CachedQueryResponse, over known: CachedQueryMetadata?) throws(SyncError)
        -> ResponseOutcome?
    {
        if response.askedAt < clearedAt { return .olderThanClear }
        for (table, mark) in marks where response.askedAt < mark {
            if table == response.table || response.mayShow(table) { return .olderThanTable }
        }
        if let last = answered[response.cacheKey], response.askedAt < last { return .superseded }
        // Another process asked later and was answered before. An instant that is still to come is from before a reboot.
        if let known, let now = sharing?.host.sinceBoot() {
            let others = try lists.moves(of: known.id).askedAt
            if response.askedSinceBoot.wholeMicroseconds < others.wholeMicroseconds, others <= now {
                return .superseded
            }
        }
        return nil
    }

    /// Marks every list of a table as to be fetched again.
    package func markTableStale(_ table: TableID) throws(SyncError) {
        try commit { (change) throws(SyncError) in try markStale(table, in: &change) }
    }

    func markStale(_ table: TableID, in change: inout StoreChange) throws(SyncError) {
        var edit = CachedQueryEdit()
        edit.becomesStale = true
        for head in try lists.heads(of: table) {
            try lists.setStale(head.id, version: nextVersion())
            change.lists[head.cacheKey] = .edited(edit)
        }
        try markEmbedding(table, in: &change)
        try mark(table)
    }

    /// Answers to what was asked before now are too old for a table from now on.
    func mark(_ table: TableID) throws(SyncError) {
        marks[table] = logicalClock.next()
        try sharedTable.mark(table, at: nextVersion())
    }

    /// Marks the lists that show rows of a table inside those of their own.
    func markEmbedding(_ table: TableID, in change: inout StoreChange) throws(SyncError) {
        for head in try lists.freshOnesThatMayEmbed() where mayShow(head, table) {
            try lists.setStale(head.id, version: nextVersion())
            var edit = CachedQueryEdit()
            if case .edited(let known) = change.lists[head.cacheKey] { edit = known }
            edit.becomesStale = true
            change.lists[head.cacheKey] = .edited(edit)
            change.changedTables.insert(head.table)
        }
    }

    /// Removes lists larger than one may be, and the least recently used ones until the limits hold, never one whose
    /// cache key is in use. Returns how many were removed.
    package func evict(
        maximumBytes: Int, maximumLists: Int, maximumListBytes: Int = .max, keeping inUse: Set<String>
    ) throws(SyncError) -> Int {
        try ensureOpen()
        // Nearly always there is nothing to remove, and no lock to take.
        guard
            try !victims(
                maximumBytes: maximumBytes, maximumLists: maximumLists, maximumListBytes: maximumListBytes,
                keeping: inUse
            ).isEmpty
        else { return 0 }
        return try commit { (change) throws(SyncError) in
            let victims = try victims(
                maximumBytes: maximumBytes, maximumLists: maximumLists, maximumListBytes: maximumListBytes,
                keeping: inUse)
            change.isSilent = victims.isEmpty
            guard !victims.isEmpty else { return 0 }
            for victim in victims {
                try rows.deleteAll(of: victim.id)
                try lists.delete(victim.id)
                answered[victim.cacheKey] = nil
            }
            keyPlaces = [:]
            others.shared.removed += 1
            _ = nextVersion()
            return victims.count
        }
    }

    private func victims(
        maximumBytes: Int, maximumLists: Int, maximumListBytes: Int, keeping shown: Set<String>
    ) throws(SyncError) -> [(id: Int64, cacheKey: String)] {
        let usage = try lists.usage()
        // What another process used last may be on its screen.
        var inUse = shown
        for list in usage where isOfRunningOther(list.usedBy) { inUse.insert(list.cacheKey) }
        // Lists in use count whatever their place; the others fill what they leave, newest first.
        var bytes = usage.reduce(0) { $0 + (inUse.contains($1.cacheKey) ? $1.bytes : 0) }
        var count = usage.count { inUse.contains($0.cacheKey) }
        var victims: [(id: Int64, cacheKey: String)] = []
        for list in usage where !inUse.contains(list.cacheKey) {
            let fits = bytes + list.bytes <= maximumBytes && count < maximumLists && list.bytes <= maximumListBytes
            if fits {
                bytes += list.bytes
                count += 1
            } else {
                victims.append((list.id, list.cacheKey))
            }
        }
        return victims
    }

    private func isOfRunningOther(_ process: Int32) -> Bool {
        guard let host = sharing?.host, process != 0, process != host.number else { return false }
        return host.isRunning(process)
    }

    // MARK: - Rows

    private func orderedRows(of list: Int64) throws(SyncError) -> StoredRows {
        let stored = try rows.all(of: list)
        guard let order = try lists.layout(of: list).order else { return StoredRows(stored) }
        let bySlot = try StoreFault.unique(stored.map { ($0.slot, $0) })
        return StoredRows(order.compactMap { bySlot[$0] })
    }

}

extension [UInt8] {
    /// `withUnsafeBufferPointer` that keeps the thrown type.
    func withUnsafeBufferPointerThrowing<Failure: Error>(
        _ body: (UnsafeBufferPointer<UInt8>) throws(Failure) -> Void
    ) throws(Failure) {
        let outcome = withUnsafeBufferPointer { buffer -> Result<Void, Failure> in
            do throws(Failure) {
                return .success(try body(buffer))
            } catch {
                return .failure(error)
            }
        }
        try outcome.get()
    }
}

extension [QueuedMutation] {
    /// Keys of writes that change rows which are there already.
    var touchedKeys: [RowKey] {
        flatMap { entry -> [RowKey] in
            if case .insert = entry.operation { [] } else { entry.rowKeys }
        }
    }
}
