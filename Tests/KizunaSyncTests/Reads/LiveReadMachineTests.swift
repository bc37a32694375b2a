import Foundation
import KizunaCore
import KizunaPostgREST
import KizunaStore
import KizunaSync
import KizunaSyncTesting
import Testing

/// What a live read shows after each kind of news.
@Suite struct LiveReadMachineTests {
    @Test func changesBeforeTheListIsLoadedArePartOfWhatIsLoaded() {
        var store = ModelStore()
        var read = store.makeRead()
        let early = store.queueInsert("q")
        #expect(read.changed(early, ownResponse: nil) == LiveReadMachine.Consequence())
        read.loaded(store.image)
        #expect(read.ids == ["q"])
    }

    @Test func aReplacedListOfThisReadsOwnRequestConfirmsIt() {
        var store = ModelStore()
        var read = store.makeRead()
        read.loaded(store.image)
        let others = store.replace(["a"], askedAt: LogicalTime(1))
        #expect(read.changed(others, ownResponse: LogicalTime(2)).isAnswered == false)
        #expect(read.snapshot(refresh: .idle, isCacheOnly: false).isFromCache)
        let own = store.replace(["a", "b"], askedAt: LogicalTime(2))
        #expect(read.changed(own, ownResponse: LogicalTime(2)).isAnswered)
        #expect(!read.snapshot(refresh: .idle, isCacheOnly: false).isFromCache)
        #expect(read.snapshot(refresh: .idle, isCacheOnly: true).isFromCache)
    }

    @Test func aStaleMarkTakesTheConfirmationBackAndAnExactEditDoesNot() {
        var store = ModelStore()
        var read = store.makeRead()
        read.loaded(store.image)
        _ = read.changed(store.replace(["a"], askedAt: LogicalTime(1)), ownResponse: LogicalTime(1))
        #expect(!read.changed(store.edit(replacing: "a"), ownResponse: nil).becameStale)
        #expect(!read.snapshot(refresh: .idle, isCacheOnly: false).isFromCache)
        #expect(read.changed(store.markStale(), ownResponse: nil).becameStale)
        #expect(read.snapshot(refresh: .idle, isCacheOnly: false).isFromCache)
        read.confirmed()
        #expect(read.snapshot(refresh: .idle, isCacheOnly: false).isFromCache)
    }

    @Test func noRowOfAPreviousOwnerSurvives() {
        var store = ModelStore()
        var read = store.makeRead()
        read.loaded(store.image)
        _ = read.changed(store.replace(["a"], askedAt: LogicalTime(1)), ownResponse: LogicalTime(1))
        _ = read.changed(store.queueInsert("q"), ownResponse: nil)
        read.ownerChanged()
        let dropped = read.snapshot(refresh: .refreshing, isCacheOnly: false)
        #expect(dropped.rows == nil)
        #expect(dropped.fetchedAt == nil)
        #expect(!dropped.hasPendingMutations)
        #expect(read.changed(store.replace(["a"], askedAt: LogicalTime(2)), ownResponse: LogicalTime(2)) == .init())
        #expect(read.snapshot(refresh: .refreshing, isCacheOnly: false) == dropped)
    }

    @Test func anEmptyListIsKnownAndNothingCachedIsNot() {
        var store = ModelStore()
        var read = store.makeRead()
        read.loaded(store.image)
        #expect(read.ids == nil)
        _ = read.changed(store.replace([], askedAt: LogicalTime(1)), ownResponse: nil)
        #expect(read.ids == [])
    }

    /// L1 and L2: whatever happens, the rows followed change by change are those a read loaded now would show.
    @Test(arguments: 1...50)
    func followingEveryChangeShowsWhatLoadingShows(seed: Int) {
        var random = SeededRandom(seed: UInt64(seed))
        var store = ModelStore()
        var read = store.makeRead()
        read.loaded(store.image)
        for step in 1...60 {
            let change = store.randomChange(&random)
            _ = read.changed(change, ownResponse: nil)
            var fresh = store.makeRead()
            fresh.loaded(store.image)
            let followed = read.snapshot(refresh: .idle, isCacheOnly: true)
            let loaded = fresh.snapshot(refresh: .idle, isCacheOnly: true)
            guard followed == loaded else {
                Issue.record("seed \(seed), step \(step): \(followed.described) is not \(loaded.described)")
                return
            }
        }
    }
}

extension LiveReadMachine {
    /// The keys of the shown rows.
    var ids: [String]? { snapshot(refresh: .idle, isCacheOnly: true).rows?.map { $0.key?.text ?? "-" } }
}

extension RawSnapshot {
    /// All that a difference between two snapshots can be about.
    fileprivate var described: String {
        let rows = (rows ?? []).map { "\($0.json.text)\($0.isPending ? " pending" : "") \($0.rejectedID ?? "")" }
        return "\(rows) cache \(isFromCache) pending \(hasPendingMutations) complete \(isComplete)"
    }
}

/// A vault of one list and one queue, in memory, that tells its changes as the real one does.
struct ModelStore {
    private static let table = TableID(name: "tasks")
    private static let date = Date(timeIntervalSince1970: 0)
    private var list: CachedQuery?
    private var entries: [QueuedMutation] = []
    private var serial = 0

    var image: CachedQuerySnapshot { CachedQuerySnapshot(list: list, entries: entries, known: [:]) }

    func makeRead() -> LiveReadMachine {
        var request = TableRequest(table: "tasks")
        request.append("done", "eq.false")
        let types = TableTypes(columns: ["id": .text, "done": .bool])
        return LiveReadMachine(
            shape: QueryShape(request: request, types: types, keyColumns: ["id"]), cacheKey: "key")
    }

    private func row(_ id: String, isDone: Bool = false) -> RawJSON {
        RawJSON(unchecked: Array(#"{"id":"\#(id)","done":\#(isDone),"n":\#(serial)}"#.utf8))
    }

    private func change(_ list: StoreChange.CachedQueryChange? = nil, ended: [QueuedMutation] = []) -> StoreChange {
        var change = StoreChange()
        if let list { change.lists["key"] = list }
        change.ended = ended.map { .init(id: $0.id, table: $0.table, fate: .withdrawn) }
        return change
    }

    mutating func replace(_ ids: [String], askedAt: LogicalTime) -> StoreChange {
        serial += 1
        let head = CachedQueryMetadata(
            id: 1, cacheKey: "key", table: Self.table, parameters: [], fetchedAt: Self.date, isStale: false,
            isComplete: true, hasPlainColumns: true)
        let stored = CachedQuery(
            head: head,
            rows: ids.enumerated().map { StoredRow(slot: Int64($0), key: RowKey(text: $1), json: row($1)) })
        list = stored
        return change(.replaced(stored, askedAt: askedAt))
    }

    mutating func edit(replacing id: String) -> StoreChange {
        serial += 1
        let json = row(id)
        var edit = CachedQueryEdit()
        edit.replaced = [.init(key: RowKey(text: id), json: json)]
        if var changed = list {
            changed.rows = StoredRows(
                changed.rows.map { $0.key?.text == id ? StoredRow(slot: $0.slot, key: $0.key, json: json) : $0 })
            list = changed
        }
        return change(.edited(edit))
    }

    mutating func markStale() -> StoreChange {
        var edit = CachedQueryEdit()
        edit.becomesStale = true
        list?.head.isStale = true
        return change(.edited(edit))
    }

    mutating func queueInsert(_ id: String, isDone: Bool = false) -> StoreChange {
        queue(.insert(row: row(id, isDone: isDone)), id)
    }

    private mutating func queue(_ operation: QueuedMutation.Operation, _ id: String) -> StoreChange {
        serial += 1
        let entry = QueuedMutation(
            id: "e\(serial)", table: Self.table, operation: operation, rowKeys: [RowKey(text: id)],
            createdAt: Self.date)
        entries.append(entry)
        var change = StoreChange()
        change.queued = [entry]
        return change
    }

    /// Accepts the first queued write as the real vault does: list, queue and mark in one change.
    private mutating func deliverFirst() -> StoreChange {
        guard let entry = entries.first else { return StoreChange() }
        entries.removeFirst()
        guard list != nil, case .insert(let row) = entry.operation, let key = entry.rowKeys.first,
            row.member("done")?.text == "false", !(list?.rows.contains { $0.key == key } ?? false)
        else { return change(ended: [entry]) }
        var edit = CachedQueryEdit()
        edit.appended = [.init(key: key, json: row)]
        let rows = list?.rows.map { $0 } ?? []
        list?.rows = StoredRows(rows + [StoredRow(slot: -1, key: key, json: row)])
        return change(.edited(edit), ended: [entry])
    }

    private mutating func clear() -> StoreChange {
        var change = StoreChange()
        change.isCleared = true
        change.ended = entries.map { .init(id: $0.id, table: $0.table, fate: .withdrawn) }
        entries = []
        list = nil
        return change
    }

    mutating func randomChange(_ random: inout SeededRandom) -> StoreChange {
        let id = "r\(random.next() % 8)"
        switch random.next() % 11 {
        case 0:
            let ids = (0..<8).map { "r\($0)" }.filter { _ in random.chance(0.6) }
            return replace(ids, askedAt: LogicalTime(random.next() % 100))
        case 1: return edit(replacing: id)
        case 2: return markStale()
        case 3, 4: return queueInsert(id, isDone: random.chance(0.3))
        case 5:
            let patch = RawJSON(unchecked: Array(#"{"done":\#(random.chance(0.5))}"#.utf8))
            return queue(.update(patch: patch, filters: [.init(name: "id", value: "eq.\(id)")]), id)
        case 6: return queue(.delete(filters: [.init(name: "id", value: "eq.\(id)")]), id)
        case 10:
            let patch = RawJSON(unchecked: Array(#"{"id":"r\#(random.next() % 8)","done":false}"#.utf8))
            return queue(.update(patch: patch, filters: [.init(name: "id", value: "eq.\(id)")]), id)
        case 7: return random.chance(0.2) ? clear() : deliverFirst()
        default: return deliverFirst()
        }
    }
}
