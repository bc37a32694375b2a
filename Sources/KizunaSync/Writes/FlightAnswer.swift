package import KizunaCore
internal import KizunaStore

/// What came back with an accepted flight.
struct FlightAnswer: Sendable {
    var rows: DeliveryEffect.Rows
    var byID: [String: [RawJSON]]
    var touched: Int?
    var settled: Set<String>
}

extension FlightAnswer {
    /// Reads the rows an accepted write sent back; nil where the answer is not PostgREST's own: rows where rows were asked
    /// for, else nothing. The login page of a network answers 200 too, and it has written no row.
    init?(_ entries: [QueueEntry], _ response: WireResponse, isSilent: Bool, _ keyColumns: [String]) {
        var answered: [RawJSON]?
        if response.body.isEmpty {
            guard isSilent || response.status == 201 || response.status == 204 else { return nil }
        } else {
            guard !isSilent, let rows = try? RawJSON(validating: response.body).arrayElements() else { return nil }
            answered = rows
        }
        settled = Set(entries.map(\.id))
        byID = [:]
        rows = .untold
        if isSilent, response.headers["content-range"] == "*/*", entries.first.map(\.isUpdate) ?? false { touched = 0 }
        guard let answered else { return }
        touched = answered.count
        var byKey: [RowKey: RawJSON] = [:]
        for row in answered {
            guard let key = row.rowKey(columns: keyColumns) else { return }
            byKey[key] = row
        }
        let isDelete = entries.contains { if case .delete = $0.operation { true } else { false } }
        rows = isDelete ? .deleted(Array(byKey.keys)) : .written(byKey)
        if isDelete, let entry = entries.first, !entry.rowKeys.isEmpty {
            // A row that was gone already is gone all the same.
            rows = .deleted(entry.rowKeys)
        }
        for entry in entries {
            byID[entry.id] = entries.count == 1 ? answered : entry.rowKeys.compactMap { byKey[$0] }
        }
    }
}

extension QueueEntry {
    fileprivate var isUpdate: Bool {
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
        if let details { return details == "Key (\(keyColumns[0]))=(\(key.text)) already exists." }
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
