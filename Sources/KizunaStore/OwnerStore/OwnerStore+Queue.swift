package import KizunaCore

// The queue: acceptance, bookkeeping around each send, and the three ends of an entry.

extension OwnerStore {
    /// All waiting writes in order.
    package func pendingEntries() throws(SyncError) -> [QueuedMutation] {
        try reading { () throws(SyncError) in try queue.all() }
    }

    /// All refused writes, oldest first.
    package func rejectedEntries() throws(SyncError) -> [RejectedEntry] {
        try reading { () throws(SyncError) in try rejections.all() }
    }

    /// Accepts writes, all or none. Durable when this returns. Gives those that now wait, with their place; one that was
    /// folded into another is not among them.
    package func enqueue(_ entries: [QueuedMutation], limit: Int) throws(SyncError) -> [QueuedMutation] {
        try commit { (change) throws(SyncError) in
            var stored: [QueuedMutation] = []
            for entry in entries {
                guard case .no = try fold(entry, in: &change) else { continue }
                stored.append(try queue.append(entry))
            }
            // One that was folded needs no room.
            guard stored.isEmpty || depth + stored.count <= limit else {
                throw SyncError(
                    .queueFull,
                    "The queue holds \(depth) writes and takes at most \(limit); wait until some are delivered.")
            }
            depth += stored.count
            change.queued = stored
            change.known = try knownRows(for: stored)
            return stored
        }
    }

    /// The server accepted these writes: the effect on cached lists, the table's mark and the removal of the entries
    /// are one transaction, so no reader sees a row flicker back (docs/spec/reads.md, Order of responses and changes).
    ///
    /// `rows` is what the server sent back for each write, by id, and `told` what it said of rows by their key, nil where
    /// there is none any more. `effect` gets each cached list of the table with those of its rows that carry one of `keys`.
    package func settle(
        _ ids: [String], table: TableID, rows: [String: [RawJSON]], told: [RowKey: RawJSON?] = [:], keys: [RowKey],
        effect: @Sendable (CachedQueryMetadata, [RowKey: RawJSON]) -> CachedQueryEdit
    ) throws(SyncError) {
        try commit { (change) throws(SyncError) in
            for id in ids {
                // Cleared meanwhile: the acknowledgement finds no entry and is ignored.
                guard let entry = try queue.entry(id: id) else { continue }
                try queue.delete(id: id)
                let returned = rows[id] ?? []
                try deliveries.insert(id: id, rows: RawJSON(elements: returned))
                depth -= 1
                change.ended.append(.init(id: id, table: entry.table, fate: .delivered(returned)))
            }
            try deliveries.prune()
            if !told.isEmpty { change.known[table] = told }
            let carrying = keys.isEmpty ? [:] : try rowsCarrying(keys, in: try keyPlaces(of: table))
            var present: [Int64: [RowKey: RawJSON]] = [:]
            for (key, rows) in carrying {
                for row in rows { present[row.list, default: [:]][key] = row.json }
            }
            for head in try lists.heads(of: table) {
                let edit = effect(head, present[head.id] ?? [:])
                guard !edit.isEmpty else { continue }
                try apply(edit, to: head.id, of: table, carrying: carrying)
                change.lists[head.cacheKey] = .edited(edit)
                change.changedTables.insert(table)
            }
            try markEmbedding(table, in: &change)
            try mark(table)
            giveLeaseBackWhenEmpty()
        }
    }

    /// The server refused a write for good: it moves to the refused list together with those that depend on it, and
    /// the table's lists are fetched again, since the overlay showed what did not happen.
    ///
    /// Only the process that sends the queue may: what the server refused to one that lost the lease may be another's
    /// doing. `mayClaim` is for a write that was given up without a request; the lease is then taken where it is free.
    /// Gives nil where it is written down, else who sends now.
    @discardableResult
    package func reject(_ rejected: [RejectedEntry], mayClaim: Bool = false) throws(SyncError) -> StoreChange.Drainer? {
        try commit { (change) throws(SyncError) in
            change.isSilent = true
            if holder != nil, !hasLease {
                guard mayClaim, claimLease() == nil else { return recordLeaseHolder() }
            }
            change.isSilent = false
            for rejection in rejected {
                guard try queue.entry(id: rejection.entry.id) != nil else { continue }
                try queue.delete(id: rejection.entry.id)
                try rejections.insert(rejection)
                depth -= 1
                change.ended.append(
                    .init(id: rejection.entry.id, table: rejection.entry.table, fate: .rejected(rejection.failure)))
                change.rejected.append(rejection)
            }
            for table in Set(change.ended.map(\.table)) { try markStale(table, in: &change) }
            giveLeaseBackWhenEmpty()
            return nil
        }
    }

    /// Takes a waiting write out of the queue by the app's own hand; false when it is not there.
    package func discardPending(_ id: String) throws(SyncError) -> Bool {
        try commit { (change) throws(SyncError) in
            guard let entry = try queue.entry(id: id) else { return false }
            try queue.delete(id: id)
            depth -= 1
            change.ended.append(.init(id: id, table: entry.table, fate: .withdrawn))
            try markStale(entry.table, in: &change)
            giveLeaseBackWhenEmpty()
            return true
        }
    }

    /// Forgets a refused write; false when there is none of this id.
    package func dismissRejected(_ id: String) throws(SyncError) -> Bool {
        try commit { (change) throws(SyncError) in
            guard try rejections.delete(id: id) else { return false }
            change.unrejected = [id]
            _ = nextVersion()
            return true
        }
    }

    /// Puts a refused write at the end of the queue together with those that were parked with it, all or none. `edit` gives
    /// them as they are queued again; what it leaves out stays refused. Nil when there is no refused write of this id.
    package func requeueRejected(
        _ id: String,
        edit: @Sendable (_ rejected: QueuedMutation, _ parked: [QueuedMutation]) throws(SyncError) -> [QueuedMutation]
    ) throws(SyncError) -> [QueuedMutation]? {
        try commit { (change) throws(SyncError) in
            let all = try rejections.all()
            guard let rejected = all.first(where: { $0.entry.id == id }) else { return nil }
            let parked = all.filter { $0.dependsOn == id }.map(\.entry)
            var stored: [QueuedMutation] = []
            for entry in try edit(rejected.entry, parked) {
                _ = try rejections.delete(id: entry.id)
                stored.append(try queue.append(entry))
            }
            depth += stored.count
            _ = nextVersion()
            change.unrejected = stored.map(\.id)
            change.queued = stored
            change.known = try knownRows(for: stored)
            return stored
        }
    }

    /// Removes everything the vault holds; with `keepingQueue`, everything but the unsent and refused writes.
    package func clear(keepingQueue: Bool) throws(SyncError) {
        try commit { (change) throws(SyncError) in
            if !keepingQueue {
                change.ended = try queue.all().map { .init(id: $0.id, table: $0.table, fate: .withdrawn) }
                change.unrejected = try rejections.all().map(\.entry.id)
                try queue.deleteAll()
                try rejections.deleteAll()
                try deliveries.deleteAll()
                depth = 0
            }
            try rows.deleteAll()
            try lists.deleteAll()
            keyPlaces = [:]
            change.isCleared = true
            clearedAt = logicalClock.next()
            answered = [:]
            others.shared.cleared += 1
            others.shared.removed += 1
            _ = nextVersion()
            giveLeaseBackWhenEmpty()
        }
    }
}

/// What is known of a write's fate.
package enum WriteFate: Sendable, Equatable {
    case pending
    /// Accepted, with the rows the server sent back.
    case delivered([RawJSON])
    case rejected(RejectedEntry)
    /// Never queued here, cleared, or accepted too long ago.
    case unknown
}

extension OwnerStore {
    /// What has become of a write.
    package func fate(of id: String) throws(SyncError) -> WriteFate {
        try fates(of: [id])[0]
    }

    /// What has become of each of these writes, at one moment.
    package func fates(of ids: [String]) throws(SyncError) -> [WriteFate] {
        try reading { () throws(SyncError) in
            let rejected = Dictionary(try rejections.all().map { ($0.entry.id, $0) }, uniquingKeysWith: { $1 })
            var fates: [WriteFate] = []
            for id in ids {
                if let rejection = rejected[id] {
                    fates.append(.rejected(rejection))
                } else if try queue.entry(id: id) != nil {
                    fates.append(.pending)
                } else if let rows = try deliveries.rows(id: id) {
                    fates.append(.delivered((try? rows.arrayElements()) ?? []))
                } else {
                    fates.append(.unknown)
                }
            }
            return fates
        }
    }
}

extension OwnerStore {
    /// Hands over a table's waiting writes in line with the changes.
    package func deliverPending(
        of table: TableID, _ deliver: @Sendable ([QueuedMutation]) -> Void
    ) throws(SyncError) {
        deliver(try pendingEntries().filter { $0.table == table })
    }

    /// Hands over all waiting writes in line with the changes.
    package func deliverPending(_ deliver: @Sendable ([QueuedMutation]) -> Void) throws(SyncError) {
        deliver(try pendingEntries())
    }

    /// Hands over the refused writes in line with the changes.
    package func deliverRejected(_ deliver: @Sendable ([RejectedEntry]) -> Void) throws(SyncError) {
        deliver(try rejectedEntries())
    }

    /// Hands over how many writes wait and were refused, in line with the changes.
    package func deliverCounts(_ deliver: @Sendable (_ pending: Int, _ rejected: Int) -> Void) throws(SyncError) {
        let rejected = try reading { () throws(SyncError) in try rejections.all().count }
        deliver(depth, rejected)
    }
}
