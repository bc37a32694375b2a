package import KizunaCore
package import KizunaStore

/// What a live read knows and shows: the cached list, the queued writes over it, and whether the server confirmed it.
/// Pure; one method per input, each saying whether something shown may have changed.
///
/// Stages:
/// - `loading`: the vault has not delivered the list yet, or the owner is changing. Nothing of another owner is kept.
/// - `live`: rows and queue are followed change by change.
///
/// Invariants:
/// - L1: base, queue and confirmation change together: a snapshot never mixes two states of the vault.
/// - L2: changes that arrive before the list was loaded are part of what is loaded, and are not applied twice.
/// - L3: no row of a former owner survives `ownerChanged`.
package struct LiveReadMachine: Sendable {
    private enum Stage: Sendable {
        case loading
        case live
    }

    package let shape: QueryShape
    package let cacheKey: String
    private let embedded: EmbeddedTables
    private var stage = Stage.loading
    /// What is known of the cached list besides its rows, which the fold holds.
    private var head: CachedQueryMetadata?
    private var pending = PendingWrites()
    /// Queued writes that may touch rows whose keys they do not name.
    private var unkeyed: Set<String> = []
    private var known: [RowKey: RawJSON] = [:]
    /// Refused writes of the table by id, with the rows they name.
    private var rejected: [String: [RowKey]] = [:]
    private var fold: OverlayFold
    private var isConfirmed = false
    /// Queued writes to tables the list shows inside its rows: what they do is not laid over those.
    private var unfollowed: Set<String> = []

    package init(
        shape: QueryShape, cacheKey: String,
        tables: @escaping @Sendable (TableID) -> TableSchema = { _ in TableSchema() }
    ) {
        self.shape = shape
        embedded = EmbeddedTables(shape.request, tables: tables)
        self.cacheKey = cacheKey
        fold = OverlayFold(shape: shape)
    }

    package var isLive: Bool { stage == .live }
    package var hasRows: Bool { head != nil }
    package var isStale: Bool { head?.isStale ?? true }

    /// Whether a waiting write may change what is shown and is not laid over it.
    package var isBehind: Bool { !unfollowed.isEmpty || fold.isInexact }

    /// The other tables whose writes concern the read; nil where it shows none.
    package var embedding: (@Sendable (TableID) -> Bool)? { embedded.isEmpty ? nil : embedded.mayShow }

    /// The former owner's rows are dropped; the new owner's are still to come.
    package mutating func ownerChanged() {
        stage = .loading
        head = nil
        pending = PendingWrites()
        unkeyed = []
        unfollowed = []
        known = [:]
        rejected = [:]
        isConfirmed = false
        fold = OverlayFold(shape: shape)
    }

    /// What the vault holds for this read at this moment.
    package mutating func loaded(_ image: CachedQuerySnapshot) {
        stage = .live
        head = image.list?.head
        pending = PendingWrites()
        unkeyed = []
        for entry in image.entries { queue(entry) }
        unfollowed = Set(image.embeddedWrites)
        known = image.known
        rejected = Dictionary(uniqueKeysWithValues: image.rejected.map { ($0.entry.id, $0.entry.rowKeys) })
        isConfirmed = false
        renew(.base(image.list?.rows), queued: [])
    }

    /// A committed change of the vault. `ownResponse` is the tick of this read's own request, when one is out.
    /// Returns what the change meant for the read.
    package mutating func changed(_ change: StoreChange, ownResponse: LogicalTime?) -> Consequence {
        guard stage == .live else { return Consequence() }
        var consequence = Consequence()
        var renewal: Renewal?
        if change.isCleared {
            head = nil
            known = [:]
            isConfirmed = false
            renewal = .base(nil)
            consequence.isCleared = true
        }
        switch change.lists[cacheKey] {
        case .replaced(let stored, let askedAt):
            head = stored.head
            consequence.isAnswered = askedAt == ownResponse
            // Another request of the same query may have answered; what it brought is as fresh.
            isConfirmed = isConfirmed || consequence.isAnswered
            renewal = .base(stored.rows)
            if stored.head.isStale {
                // Another process learnt that the list is out of date.
                isConfirmed = false
                consequence.becameStale = true
            }
        case .edited(let edit):
            let hasRows = head != nil
            renewal = renewal ?? .keys(apply(edit))
            if edit.becomesStale, hasRows {
                isConfirmed = false
                consequence.becameStale = true
            }
        case nil: break
        }
        renewal = follow(change, renewal)
        let wasBehind = isBehind
        for entry in change.queued where embedded.mayShow(entry.table) { unfollowed.insert(entry.id) }
        for entry in change.ended { unfollowed.remove(entry.id) }
        let queued = change.queued.filter { $0.table == shape.table }
        consequence.mayShow = renewal != nil || !queued.isEmpty
        if consequence.mayShow {
            if learn(change.known[shape.table] ?? [:], queued: queued) {
                if case .base = renewal {} else { renewal = .overlay }
            }
            renew(renewal, queued: queued)
        }
        if isBehind != wasBehind { consequence.mayShow = true }
        return consequence
    }

    /// This read's own request was answered, and a newer answer of the same query was stored before it.
    package mutating func confirmed() {
        if head.map({ !$0.isStale }) ?? false { isConfirmed = true }
    }

    /// What a change of the vault means for the read besides new rows.
    package struct Consequence: Sendable, Equatable {
        package var mayShow = false
        package var isAnswered = false
        package var becameStale = false
        package var isCleared = false

        package init() {}
    }

    /// What is shown now, for a read whose refresh stands so.
    package func snapshot(refresh: RefreshState, isCacheOnly: Bool) -> RawSnapshot {
        RawSnapshot(
            rows: fold.rows, isFromCache: isCacheOnly || !isConfirmed || isBehind, fetchedAt: head?.fetchedAt,
            hasPendingMutations: fold.hasPendingMutations, refresh: refresh,
            isComplete: head?.isComplete ?? false)
    }

    // MARK: - The fold

    /// How much of the fold has to be made anew.
    private enum Renewal {
        /// The rows of these keys.
        case keys(Set<RowKey>)
        /// Everything that queued writes did.
        case overlay
        /// All of it, over these cached rows.
        case base(StoredRows?)
    }

    /// Takes the writes that left the queue out of what is shown.
    private mutating func follow(_ change: StoreChange, _ renewal: Renewal?) -> Renewal? {
        var keys: Set<RowKey> = []
        var hasLeft = false
        var isWide = false
        for entry in change.ended {
            guard let entry = pending.remove(entry.id) else { continue }
            hasLeft = true
            keys.formUnion(entry.rowKeys)
            if unkeyed.remove(entry.id) != nil { isWide = true }
        }
        for entry in change.rewritten where pending.replace(entry) {
            isWide = true
            if !fold.touchesOnlyItsKeys(entry) { unkeyed.insert(entry.id) }
        }
        isWide = followRejections(change) || isWide
        switch renewal {
        case .base, .overlay: return renewal
        case .keys(let others): return isWide ? .overlay : .keys(keys.union(others))
        case nil: return isWide ? .overlay : hasLeft ? .keys(keys) : nil
        }
    }

    private mutating func queue(_ entry: QueuedMutation) {
        pending.append(entry)
        if !fold.touchesOnlyItsKeys(entry) { unkeyed.insert(entry.id) }
    }

    /// Takes in those of the rows that were known before or that a write which waits, or has just been queued, may change;
    /// gives whether writes have to be laid over them anew.
    private mutating func learn(_ rows: [RowKey: RawJSON?], queued: [QueuedMutation]) -> Bool {
        var rows = rows
        if queued.isEmpty, unkeyed.isEmpty {
            rows = rows.filter { known[$0.key] != nil || !pending.naming([$0.key]).isEmpty }
        }
        guard !rows.isEmpty else { return false }
        for (key, row) in rows { known[key] = row }
        let news = fold.learn(rows)
        return !news.isEmpty && (!unkeyed.isEmpty || !pending.naming(news).isEmpty)
    }

    /// Makes anew what has to be, and lays the writes that have just been queued over it.
    private mutating func renew(_ renewal: Renewal?, queued: [QueuedMutation]) {
        var renewal = renewal
        // A write that names no rows may have touched any.
        if case .keys(let keys) = renewal, !keys.isEmpty,
            !unkeyed.isEmpty || !fold.redo(keys, with: pending.naming(keys))
        {
            renewal = .overlay
        }
        for entry in queued { queue(entry) }
        switch renewal {
        case .keys, nil:
            for entry in queued { fold.apply(entry) }
            return
        case .overlay: fold.restart(rejected: rejectedKeys)
        case .base(let rows):
            fold = OverlayFold(shape: shape, base: rows, rowsInOtherLists: known, rejected: rejectedKeys)
        }
        for entry in pending.all { fold.apply(entry) }
    }

    private var rejectedKeys: [RowKey: String] {
        var keys: [RowKey: String] = [:]
        for (id, named) in rejected.sorted(by: { $0.key < $1.key }) {
            for key in named { keys[key] = id }
        }
        return keys
    }

    private mutating func followRejections(_ change: StoreChange) -> Bool {
        let before = rejected.count
        for id in change.unrejected { rejected[id] = nil }
        var isChanged = rejected.count != before
        for rejection in change.rejected where rejection.entry.table == shape.table {
            rejected[rejection.entry.id] = rejection.entry.rowKeys
            isChanged = true
        }
        return isChanged
    }

    /// Changes the cached list; gives the keys of the rows concerned.
    private mutating func apply(_ edit: CachedQueryEdit) -> Set<RowKey> {
        guard head != nil else { return [] }
        fold.edit(edit)
        if edit.becomesStale { head?.isStale = true }
        return Set(edit.replaced.map(\.key) + edit.removed + edit.appended.map(\.key))
    }
}
