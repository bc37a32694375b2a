internal import Foundation
package import KizunaCore

// What other processes commit to the same file, as a change like any other (decision 012).

extension OwnerStore {
    /// Looks whether another process has committed something, and hands it over. Call it when a signal was heard.
    package func catchUp() throws(SyncError) {
        try reading { () throws(SyncError) in }
        // Nothing is committed when the process that sends the queue ends.
        guard others.isLeaseHeldByOther, case .nobodyElse = drainer() else { return }
        var change = StoreChange()
        change.isOthers = true
        change.drainer = recordLeaseHolder()
        publish(change)
    }

    /// Brings what this vault knows up to the present state of the file; call it first in each transaction. Gives what
    /// other processes changed since, nil where it is nothing.
    func takeInOthers() throws(SyncError) -> StoreChange? {
        others.isMoved = false
        let dataVersion = try connection.dataVersion()
        guard dataVersion != others.dataVersion else { return nil }
        var change = StoreChange()
        change.isOthers = true
        var next = others
        next.dataVersion = dataVersion
        next.shared = try sharedTable.row()
        change.queued = try queue.entries(after: others.lastSequence)
        let isMoved = next.shared.version != others.shared.version
        if !isMoved {
            for entry in change.queued { next.add(entry) }
        } else {
            let ended = try followQueue(&next, &change)
            try followRejections(&next, &change)
            change.ended = try fates(of: ended, in: change)
            try followLists(next.shared, &change)
        }
        change.known = try knownRows(for: change.queued)
        let wasElsewhere = others.isLeaseHeldByOther
        others = next
        depth = next.queue.count
        if sharing != nil { change.drainer = recordLeaseHolder() }
        let isNews = change.hasNews || others.isLeaseHeldByOther != wasElsewhere
        return isNews ? change : nil
    }

    /// Returns the mutations that left the queue.
    private func followQueue(
        _ next: inout ExternalChanges, _ change: inout StoreChange
    ) throws(SyncError) -> [(id: String, table: TableID)] {
        var ended: [(id: String, table: TableID)] = []
        let revisions = try queue.revisions()
        for (place, known) in others.queue.sorted(by: { $0.key < $1.key }) {
            guard let revision = revisions[place] else {
                next.remove(at: place)
                ended.append((known.id, known.table))
                continue
            }
            guard revision != known.revision, let entry = try queue.entry(id: known.id) else { continue }
            next.setRevision(revision, at: place)
            if revision.rewrites == known.revision.rewrites {
                change.updated.append(entry)
            } else {
                change.rewritten.append(entry)
            }
        }
        for entry in change.queued { next.add(entry, revision: revisions[entry.sequence] ?? 0) }
        return ended
    }

    private func followRejections(_ next: inout ExternalChanges, _ change: inout StoreChange) throws(SyncError) {
        let present = try rejections.all()
        let ids = Set(present.map(\.entry.id))
        for id in others.rejected.keys.sorted() where !ids.contains(id) {
            next.removeRejection(id)
            change.unrejected.append(id)
        }
        for rejection in present where others.rejected[rejection.entry.id] != rejection.rejectedAt {
            if others.rejected[rejection.entry.id] != nil { change.unrejected.append(rejection.entry.id) }
            next.add(rejection)
            change.rejected.append(rejection)
        }
    }

    /// The fate of mutations that another process took out of the queue.
    private func fates(
        of ended: [(id: String, table: TableID)], in change: StoreChange
    ) throws(SyncError) -> [StoreChange.Ended] {
        let queuedAgain = Set(change.queued.map(\.id))
        let rejected = Dictionary(change.rejected.map { ($0.entry.id, $0.failure) }, uniquingKeysWith: { $1 })
        var fates: [StoreChange.Ended] = []
        for (id, table) in ended {
            let fate: StoreChange.Fate
            if queuedAgain.contains(id) {
                fate = .queuedAgain
            } else if let rows = try deliveries.rows(id: id) {
                fate = .delivered((try? rows.arrayElements()) ?? [])
            } else {
                fate = rejected[id].map { .rejected($0) } ?? .withdrawn
            }
            fates.append(.init(id: id, table: table, fate: fate))
        }
        return fates
    }

    private func followLists(_ next: SharedTable.Row, _ change: inout StoreChange) throws(SyncError) {
        let seen = others.shared
        if next.cleared != seen.cleared {
            change.isCleared = true
            clearedAt = logicalClock.next()
            answered = [:]
        }
        for table in try sharedTable.marked(after: seen.version) { marks[table] = logicalClock.next() }
        let changed = try lists.tables(changedAfter: seen.version)
        change.changedTables = changed
        let hasRemoved = next.removed != seen.removed || change.isCleared
        if hasRemoved { keyPlaces = [:] } else { for table in changed { keyPlaces[table] = nil } }
        guard !changed.isEmpty || hasRemoved else { return }
        for cacheKey in (sharing?.shownLists() ?? []).sorted() {
            guard let list = try storedList(cacheKey: cacheKey) else {
                // Another process needed the room: what is shown stays, and is fetched again.
                var edit = CachedQueryEdit()
                edit.becomesStale = true
                if hasRemoved, !change.isCleared { change.lists[cacheKey] = .edited(edit) }
                continue
            }
            guard try lists.moves(of: list.head.id).version > seen.version else { continue }
            change.lists[cacheKey] = .replaced(list, askedAt: .zero)
        }
    }

    // MARK: - The lease

    /// The last moment at which a request may leave, by the machine's clock: some time before the lease ends, since a
    /// request takes its time. Nil where the file is not shared.
    var lastMoment: Duration? { sharing.map { others.shared.lease.end - $0.leaseLength / 5 } }

    /// How the lease stands for this vault; mine where the file is not shared.
    var status: Lease.Status {
        guard let sharing, let holder else { return .mine }
        return others.shared.lease.status(
            for: holder, at: sharing.host.sinceBoot(), length: sharing.leaseLength,
            isRunning: { sharing.host.runs($0) })
    }

    func drainer() -> StoreChange.Drainer {
        if case .others(let remaining) = status { .other(remaining) } else { .nobodyElse }
    }

    func recordLeaseHolder() -> StoreChange.Drainer {
        let drainer = drainer()
        others.isLeaseHeldByOther = drainer != .nobodyElse
        return drainer
    }

    /// Takes the lease or makes it longer, within a transaction. Nil where another process has it.
    func claimLease() -> StoreChange.Drainer? {
        guard let sharing, let holder else { return nil }
        guard status.isOpen else { return recordLeaseHolder() }
        others.isLeaseHeldByOther = false
        others.shared.lease = Lease(holder: holder, end: sharing.host.sinceBoot() + sharing.leaseLength)
        return nil
    }

    /// Whether the lease is noted as this vault's, run out or not. Never where the file is not shared.
    var hasLease: Bool { holder != nil && others.shared.lease.holder == holder }

    /// Lets go of the lease within a transaction; nothing where another has it.
    func dropLease() {
        if hasLease { others.shared.lease = Lease() }
    }

    /// Gives the lease back within a transaction that leaves nothing to send.
    func giveLeaseBackWhenEmpty() {
        if depth == 0 { dropLease() }
    }

    /// Gives the lease back when the vault is closed. Where that cannot be written down it runs out.
    func giveLeaseBack() {
        guard hasLease else { return }
        connection.attempt { () throws(SyncError) in
            try commit { (change) throws(SyncError) in
                change.isSilent = true
                dropLease()
            }
        }
    }

    /// How long a lease of this vault is.
    package nonisolated var leaseLength: Duration { sharing?.leaseLength ?? Lease.defaultLength }

    /// Makes the lease longer while requests are out. Gives the last moment at which another may leave, nil where the
    /// lease is lost.
    package func renewLease() throws(SyncError) -> Duration? {
        try commit { (change) throws(SyncError) in
            change.isSilent = true
            guard hasLease else { return nil }
            _ = claimLease()
            return lastMoment
        }
    }
}

extension StoreChange {
    fileprivate var hasNews: Bool {
        !(queued.isEmpty && updated.isEmpty && rewritten.isEmpty && ended.isEmpty && rejected.isEmpty
            && unrejected.isEmpty && lists.isEmpty
            && changedTables.isEmpty && !isCleared)
    }
}
