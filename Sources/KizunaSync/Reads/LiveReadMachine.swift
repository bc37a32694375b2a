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

    package let shape: ListShape
    package let cacheKey: String
    private var stage = Stage.loading
    private var list: StoredList?
    private var entries: [QueueEntry] = []
    private var known: [RowKey: RawJSON] = [:]
    /// Refused writes of the table by id, with the rows they name.
    private var refused: [String: [RowKey]] = [:]
    private var fold: ListFold
    private var isConfirmed = false

    package init(shape: ListShape, cacheKey: String) {
        self.shape = shape
        self.cacheKey = cacheKey
        fold = ListFold(shape: shape, base: nil)
    }

    package var isLive: Bool { stage == .live }
    package var hasRows: Bool { list != nil }
    package var isStale: Bool { list?.head.isStale ?? true }

    /// The former owner's rows are dropped; the new owner's are still to come.
    package mutating func ownerChanged() {
        stage = .loading
        list = nil
        entries = []
        known = [:]
        refused = [:]
        isConfirmed = false
        refold()
    }

    /// What the vault holds for this read at this moment.
    package mutating func loaded(_ image: ListImage) {
        stage = .live
        list = image.list
        entries = image.entries
        known = image.known
        refused = Dictionary(uniqueKeysWithValues: image.refused.map { ($0.entry.id, $0.entry.rowKeys) })
        isConfirmed = false
        refold()
    }

    /// A committed change of the vault. `ownAnswer` is the tick of this read's own request, when one is out.
    /// Returns what the change meant for the read.
    package mutating func changed(_ change: VaultChange, ownAnswer: Tick?) -> Consequence {
        guard stage == .live else { return Consequence() }
        var consequence = Consequence()
        var needsFold = false
        if change.isCleared {
            list = nil
            known = [:]
            isConfirmed = false
            needsFold = true
            consequence.isCleared = true
        }
        switch change.lists[cacheKey] {
        case .replaced(let stored, let askedAt):
            list = stored
            consequence.isAnswered = askedAt == ownAnswer
            // Another request of the same query may have answered; what it brought is as fresh.
            isConfirmed = isConfirmed || consequence.isAnswered
            needsFold = true
        case .edited(let edit):
            apply(edit)
            if edit.becomesStale {
                isConfirmed = false
                consequence.becameStale = true
            }
            needsFold = true
        case nil: break
        }
        needsFold = follow(change) || needsFold
        if needsFold { refold() }
        consequence.mayShow = needsFold || !change.queued.isEmpty
        return consequence
    }

    /// This read's own request was answered, and a newer answer of the same query was stored before it.
    package mutating func confirmed() {
        if list.map({ !$0.head.isStale }) ?? false { isConfirmed = true }
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
            rows: fold.rows, isFromCache: isCacheOnly || !isConfirmed, fetchedAt: list?.head.fetchedAt,
            hasPendingMutations: fold.hasPendingMutations, refresh: refresh,
            isComplete: list?.head.isComplete ?? false)
    }

    /// Takes the queue's part of a change; true when the fold has to start anew.
    private mutating func follow(_ change: VaultChange) -> Bool {
        let table = shape.table
        let ended = Set(change.ended.filter { $0.table == table }.map(\.id))
        if !ended.isEmpty { entries.removeAll { ended.contains($0.id) } }
        let queued = change.queued.filter { $0.table == table }
        if !queued.isEmpty {
            known.merge(change.known[table] ?? [:]) { $1 }
            entries += queued
            if ended.isEmpty {
                fold.learn(change.known[table] ?? [:])
                for entry in queued { fold.apply(entry) }
            }
        }
        let rewritten = change.rewritten.filter { $0.table == table }
        for entry in rewritten {
            if let at = entries.firstIndex(where: { $0.id == entry.id }) { entries[at] = entry }
        }
        return followRefusals(change) || !ended.isEmpty || !rewritten.isEmpty
    }

    private mutating func followRefusals(_ change: VaultChange) -> Bool {
        let before = refused.count
        for id in change.unrefused { refused[id] = nil }
        var isChanged = refused.count != before
        for refusal in change.refused where refusal.entry.table == shape.table {
            refused[refusal.entry.id] = refusal.entry.rowKeys
            isChanged = true
        }
        return isChanged
    }

    private mutating func refold() {
        var refusedKeys: [RowKey: String] = [:]
        for (id, keys) in refused.sorted(by: { $0.key < $1.key }) {
            for key in keys { refusedKeys[key] = id }
        }
        var fresh = ListFold(shape: shape, base: list?.rows, elsewhere: known, refused: refusedKeys)
        for entry in entries { fresh.apply(entry) }
        fold = fresh
    }

    private mutating func apply(_ edit: ListEdit) {
        guard var list else { return }
        let replaced = Dictionary(edit.replaced.map { ($0.key, $0.json) }, uniquingKeysWith: { $1 })
        let removed = Set(edit.removed)
        if !replaced.isEmpty || !removed.isEmpty {
            list.rows = list.rows.compactMap { row in
                guard let key = row.key else { return row }
                if removed.contains(key) { return nil }
                return replaced[key].map { StoredRow(slot: row.slot, key: key, json: $0) } ?? row
            }
        }
        list.rows += edit.appended.map { StoredRow(slot: -1, key: $0.key, json: $0.json) }
        if edit.becomesStale { list.head.isStale = true }
        self.list = list
    }
}
