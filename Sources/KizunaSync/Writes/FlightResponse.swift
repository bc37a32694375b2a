internal import KizunaCore
internal import KizunaPostgREST
internal import KizunaStore

/// What came back with an accepted flight.
struct FlightResponse: Sendable {
    let table: TableID
    var rows: DeliveryEffect.Rows
    /// Former keys of the rows, where the write gave them others.
    var previous: [RowKey] = []
    /// Keys a delete names, whose rows did not come back.
    var notFound: [RowKey] = []
    /// Keys of added rows that did not come back: an upsert left the server's row alone, or a trigger took the row away.
    var ignored: [RowKey] = []
    var byID: [String: [RawJSON]]
    var touched: Int?
}

extension FlightResponse {
    /// Reads the rows an accepted write sent back; nil where the answer is not PostgREST's own: rows where rows were asked
    /// for, else nothing. The login page of a network answers 200 too, and it has written no row.
    init?(_ entries: [QueuedMutation], _ response: WireResponse, isSilent: Bool, _ keyColumns: [String]) {
        var answered: [RawJSON]?
        if response.body.isEmpty {
            guard isSilent || response.status == 201 || response.status == 204 else { return nil }
        } else {
            guard !isSilent, let rows = try? RawJSON(validating: response.body).arrayElements() else { return nil }
            answered = rows
        }
        guard let table = entries.first?.table else { return nil }
        self.table = table
        byID = [:]
        rows = .unknown
        if isSilent, response.headers["content-range"] == "*/*", entries.first.map(\.isUpdate) ?? false { touched = 0 }
        guard let answered else { return }
        touched = answered.count
        let keys = answered.map { $0.rowKey(columns: keyColumns) }
        var byKey: [RowKey: RawJSON] = [:]
        for case (let key?, let row) in zip(keys, answered) { byKey[key] = row }
        byID = Self.rows(of: entries, among: answered, byKey)
        guard !keys.contains(nil) else { return }
        if case .delete = entries.first?.operation {
            rows = .deleted(Array(byKey.keys))
            if entries.count == 1 { notFound = entries[0].rowKeys.filter { byKey[$0] == nil } }
            return
        }
        rows = .written(byKey)
        followKeys(of: entries, keyColumns)
        guard !entries[0].isKeyed, answered.count < entries.count else { return }
        ignored = entries.flatMap(\.rowKeys).filter { byKey[$0] == nil }
        if entries.contains(where: \.rowKeys.isEmpty) { rows = .unknown }
    }

    /// The response of inserts that the server has already, by id; nil for a row that may not be read.
    init(present: [String: RawJSON?], of mutations: [QueuedMutation]) {
        table = mutations[0].table
        byID = present.mapValues { row in row.map { [$0] } ?? [] }
        var rows: [RowKey: RawJSON] = [:]
        for mutation in mutations {
            if let key = mutation.rowKeys.first, let row = present[mutation.id] ?? nil { rows[key] = row }
        }
        self.rows = rows.count == present.count ? .written(rows) : .unknown
    }

    /// Takes in that rows which deletes name are gone.
    mutating func add(gone: [RowKey]) {
        guard case .deleted(let keys) = rows else { return }
        rows = .deleted(keys + gone.filter { !keys.contains($0) })
        notFound = []
    }

    /// Takes in the row that an earlier send of an update gave another key.
    mutating func moved(_ id: String, _ row: RawJSON, from key: RowKey, to newKey: RowKey) {
        rows = .written([newKey: row])
        previous = [key]
        byID = [id: [row]]
    }

    /// What it does to cached lists.
    var effect: DeliveryEffect { DeliveryEffect(rows, previous: previous, notFound: notFound, ignored: ignored) }

    /// The rows that belong to each write. Those of several are told apart by their keys; rows that were added without one
    /// come back in the order in which they were sent.
    private static func rows(
        of entries: [QueuedMutation], among answered: [RawJSON], _ byKey: [RowKey: RawJSON]
    ) -> [String: [RawJSON]] {
        guard entries.count > 1 else { return entries.first.map { [$0.id: answered] } ?? [:] }
        let isInOrder = !entries[0].isKeyed && answered.count == entries.count
        var rows: [String: [RawJSON]] = [:]
        for (index, entry) in entries.enumerated() {
            let named = entry.rowKeys.compactMap { byKey[$0] }
            rows[entry.id] = named.isEmpty && isInOrder ? [answered[index]] : named
        }
        return rows
    }

    /// Tells the lists of rows that have other keys now; where it is not known which, they are fetched again. So they are
    /// when an update touched nothing: if it is taken for done after all, it was done before, and its rows were not told.
    private mutating func followKeys(of entries: [QueuedMutation], _ keyColumns: [String]) {
        guard case .written(let written) = rows else { return }
        if touched == 0, entries.contains(where: \.isUpdate) { rows = .unknown }
        for entry in entries {
            switch entry.keyChange(keyColumns: keyColumns) {
            case .none: break
            case .moves(let moves): previous += moves.keys.filter { written[$0] == nil }.sorted()
            case .unknown: rows = .unknown
            }
        }
    }
}

extension QueuedMutation {
    /// Whether it is an update or delete.
    var isKeyed: Bool {
        switch operation {
        case .update, .delete: true
        case .insert, .upsert: false
        }
    }

    var isUpdate: Bool {
        if case .update = operation { true } else { false }
    }
}

extension WireResponse {
    /// What an error answer says. The body of a success is not looked at: it may hold many rows.
    var failure: ServerFailure {
        ServerFailure(status: status, body: (200..<300).contains(status) ? [] : body)
    }
}

extension ServerFailure {
    /// Whether a duplicate is one of this row's primary key, by PostgreSQL's own sentence. Where row level security makes
    /// it keep the key to itself, the usual name of the constraint tells, if the request held one row alone.
    func isAbout(_ key: RowKey, _ keyColumns: [String], tableOfTheOnlyRow table: String?) -> Bool {
        guard keyColumns.count == 1 else { return false }
        if let details {
            // PostgreSQL puts a name in quotes that is no plain word in lower case.
            let quoted = "\"\(keyColumns[0].replacing("\"", with: "\"\""))\""
            return [keyColumns[0], quoted].contains { details == "Key (\($0))=(\(key.text)) already exists." }
        }
        return table.map { constraint == "\($0)_pkey" } ?? false
    }

    /// A write that may have been handled, cannot be sent again without being done twice, and names no row to ask for.
    package static let outcomeUnknown = ServerFailure(
        status: 0, code: outcomeUnknownCode, message: "it is not known whether the server did this write")

    /// The code of a write of which nobody knows whether the server did it. It is this package's own.
    public static let outcomeUnknownCode = "KZ002"

    /// An update or delete by key that the server accepted and that touched no row: the row is not there, its conditions
    /// did not hold, or row level security hides it.
    package static func noRowMatched(status: Int) -> ServerFailure {
        ServerFailure(status: status, code: noRowMatchedCode, message: "no row matched the write")
    }

    /// The code of a write that was accepted and touched no row. It is this package's own, since PostgREST has none.
    public static let noRowMatchedCode = "KZ001"
}
