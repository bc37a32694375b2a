internal import KizunaCore
internal import KizunaPostgREST

/// A write on a simulated server. It changes copies, which replace the tables if the whole write succeeds.
struct ServedWrite {
    private let name: SimulatedServer.TableName
    private let userID: String?
    private let isPolicyOff: Bool
    private let arrivedAt: Duration
    private(set) var tables: [SimulatedServer.TableName: ServedTable]
    private(set) var done: [SimulatedMutation] = []
    private var table: ServedTable

    init(
        _ state: SimulatedServer.State, _ name: SimulatedServer.TableName, userID: String?, isPolicyOff: Bool,
        at arrivedAt: Duration
    ) throws(SimulatedRejection) {
        guard let table = state.tables[name] else {
            throw SimulatedRejection(404, code: "PGRST205", message: "Could not find the table '\(name.name)'")
        }
        self.name = name
        self.userID = userID
        self.isPolicyOff = isPolicyOff
        self.arrivedAt = arrivedAt
        self.table = table
        tables = state.tables
    }

    /// All tables after the write.
    var result: [SimulatedServer.TableName: ServedTable] { tables.merging([name: table]) { $1 } }

    mutating func response(to request: ServedRequest) throws(SimulatedRejection) -> WireResponse {
        let written: [RawJSON]
        switch request.method {
        case "POST":
            let columns = request.value("columns").map(Self.names)
            let upsert = request.prefer.first { $0.hasPrefix("resolution=") }.map { resolution in
                (
                    columns: request.value("on_conflict").map(Self.names) ?? table.schema.primaryKey,
                    ignoresDuplicates: resolution == "resolution=ignore-duplicates"
                )
            }
            written = try insert(try Self.rows(of: request.body), columns: columns, upsert: upsert)
        case "PATCH":
            written = try update(
                try table.matches(request.filters, of: userID), patch: Self.object(request.body))
        case "DELETE":
            written = try table.matches(request.filters, of: userID)
            try delete(written)
        default:
            throw SimulatedRejection(405, code: "PGRST117", message: "Unsupported HTTP method: \(request.method)")
        }
        let isPost = request.method == "POST"
        guard request.wantsRows else {
            return WireResponse(status: isPost ? 201 : 204, headers: ["content-range": "*/*"])
        }
        let rows = try ServedRead.projected(written, by: request.query)
        return WireResponse(
            status: isPost ? 201 : 200,
            headers: [
                "content-type": "application/json; charset=utf-8",
                "content-range": ServedRead.range(0, rows.count, nil),
            ], body: RawJSON(elements: rows).bytes)
    }

    // MARK: - The three kinds of write

    mutating func insert(
        _ rows: [RawJSON], columns: [String]?, upsert: (columns: [String], ignoresDuplicates: Bool)?
    ) throws(SimulatedRejection) -> [RawJSON] {
        var written: [RawJSON] = []
        for row in rows {
            let given = Self.limited(row, to: columns)
            if let upsert, let existing = try conflicting(given, upsert.columns) {
                if !upsert.ignoresDuplicates { written += try update([existing], patch: given) }
                continue
            }
            let whole = try completed(given)
            let key = try self.key(of: whole)
            try ensurePolicy(whole)
            try ensureValid(whole, key: key, before: nil)
            table.add(whole, key: key)
            record(.insert, key, whole)
            written.append(whole)
        }
        return written
    }

    mutating func update(_ rows: [RawJSON], patch: RawJSON) throws(SimulatedRejection) -> [RawJSON] {
        var written: [RawJSON] = []
        for row in rows {
            let before = try key(of: row)
            let after = row.merging((try? patch.objectMembers()) ?? [])
            try ensureKnownColumns(patch)
            let key = try self.key(of: after)
            try ensurePolicy(after)
            try ensureValid(after, key: key, before: before)
            if key == before {
                table.change(key, to: after)
            } else {
                try ensureUnreferred(before)
                table.move(before, to: key, as: after)
            }
            record(.update, key, after)
            written.append(after)
        }
        return written
    }

    mutating func delete(_ rows: [RawJSON]) throws(SimulatedRejection) {
        for row in rows { try delete(row, of: name) }
    }

    /// Deletes a row, then the rows that refer to it with a cascade; another reference rejects the delete.
    private mutating func delete(_ row: RawJSON, of name: SimulatedServer.TableName) throws(SimulatedRejection) {
        guard let key = self[name]?.key(of: row), self[name]?.rows[key] != nil else { return }
        self[name]?.remove(key)
        record(.delete, key, row, of: name)
        for reference in references(to: key, of: name) {
            guard reference.isCascading else { throw reference.rejection(of: name) }
            for row in reference.rows { try delete(row, of: reference.table) }
        }
    }

    private struct Reference {
        let table: SimulatedServer.TableName
        let column: String
        let rows: [RawJSON]
        let isCascading: Bool

        func rejection(of name: SimulatedServer.TableName) -> SimulatedRejection {
            SimulatedRejection(
                409, code: "23503",
                message:
                    "update or delete on table \"\(name.name)\" violates foreign key constraint \"\(table.name)_\(column)_fkey\" on table \"\(table.name)\""
            )
        }
    }

    /// Returns the references to a row, in the order of table and column names.
    private func references(to key: RowKey, of name: SimulatedServer.TableName) -> [Reference] {
        tables.keys.filter { $0.schema == name.schema }.sorted { $0.name < $1.name }.flatMap { other in
            guard let referring = self[other] else { return [Reference]() }
            return referring.schema.references.filter { $0.value == name.name }.keys.sorted().compactMap { column in
                let rows = referring.all.filter { $0.member(column)?.scalarText == key.text }
                return rows.isEmpty
                    ? nil
                    : Reference(
                        table: other, column: column, rows: rows,
                        isCascading: referring.schema.cascadingColumns.contains(column))
            }
        }
    }

    private subscript(_ name: SimulatedServer.TableName) -> ServedTable? {
        get { name == self.name ? table : tables[name] }
        set {
            guard let newValue else { return }
            if name == self.name { table = newValue } else { tables[name] = newValue }
        }
    }

    private func ensureUnreferred(_ key: RowKey) throws(SimulatedRejection) {
        if let reference = references(to: key, of: name).first { throw reference.rejection(of: name) }
    }

    func row(_ key: RowKey) throws(SimulatedRejection) -> RawJSON {
        guard let row = table.rows[key] else {
            throw SimulatedRejection(404, code: "SIM04", message: "There is no row of this key.")
        }
        return row
    }

    private mutating func record(
        _ operation: SimulatedMutation.Operation, _ key: RowKey, _ row: RawJSON,
        of table: SimulatedServer.TableName? = nil
    ) {
        done.append(
            SimulatedMutation(
                operation: operation, table: (table ?? name).name, key: key.text, row: row.text, userID: userID,
                doneAt: arrivedAt)
        )
    }

    // MARK: - Rows

    static func rows(of body: [UInt8]) throws(SimulatedRejection) -> [RawJSON] {
        guard let json = try? RawJSON(validating: body) else { throw .unreadableBody }
        if json.kind == .object { return [json] }
        guard let rows = try? json.arrayElements(), rows.allSatisfy({ $0.kind == .object }) else {
            throw .unreadableBody
        }
        return rows
    }

    static func object(_ body: [UInt8]) throws(SimulatedRejection) -> RawJSON {
        guard let json = try? RawJSON(validating: body), json.kind == .object else { throw .unreadableBody }
        return json
    }

    private static func names(_ list: String) -> [String] {
        list.split(separator: ",").map { name in
            name.hasPrefix("\"") && name.hasSuffix("\"") && name.count > 1
                ? String(name.dropFirst().dropLast()) : String(name)
        }
    }

    private static func limited(_ row: RawJSON, to columns: [String]?) -> RawJSON {
        guard let columns else { return row }
        return RawJSON(members: columns.map { .init(name: $0, value: row.member($0) ?? .null) })
    }

    /// Returns a row with its defaults, and null for other missing columns that are declared.
    private func completed(_ row: RawJSON) throws(SimulatedRejection) -> RawJSON {
        try ensureKnownColumns(row)
        var missing: [RawJSON.Member] = []
        for (column, value) in table.schema.defaults.sorted(by: { $0.key < $1.key }) where row.member(column) == nil {
            missing.append(.init(name: column, value: RawJSON(unchecked: Array(value(table.inserted).utf8))))
        }
        for column in table.schema.columns.keys.sorted()
        where row.member(column) == nil && !missing.contains(where: { $0.isNamed(column) }) {
            missing.append(.init(name: column, value: .null))
        }
        return missing.isEmpty ? row : row.merging(missing)
    }

    private func ensureKnownColumns(_ row: RawJSON) throws(SimulatedRejection) {
        guard !table.schema.columns.isEmpty else { return }
        for member in (try? row.objectMembers()) ?? [] where table.schema.columns[member.name] == nil {
            throw SimulatedRejection(
                400, code: "PGRST204",
                message: "Could not find the '\(member.name)' column of '\(name.name)' in the schema cache")
        }
    }

    private func key(of row: RawJSON) throws(SimulatedRejection) -> RowKey {
        if let key = table.key(of: row) { return key }
        let column = table.schema.primaryKey.first { row.member($0)?.scalarText == nil } ?? "id"
        throw SimulatedRejection(
            400, code: "23502",
            message: "null value in column \"\(column)\" of relation \"\(name.name)\" violates not-null constraint")
    }

    /// Returns the existing row that an upsert conflicts with.
    private func conflicting(_ row: RawJSON, _ columns: [String]) throws(SimulatedRejection) -> RawJSON? {
        if columns == table.schema.primaryKey { return table.key(of: row).flatMap { table.rows[$0] } }
        guard table.schema.uniqueColumns.contains(where: { Set($0) == Set(columns) }) else {
            throw SimulatedRejection(
                400, code: "42P10",
                message: "there is no unique or exclusion constraint matching the ON CONFLICT specification")
        }
        return duplicate(of: row, in: columns)
    }

    private func duplicate(of row: RawJSON, in columns: [String]) -> RawJSON? {
        let wanted = columns.compactMap { row.member($0)?.scalarText }
        guard wanted.count == columns.count else { return nil }
        return table.all.first { other in columns.compactMap { other.member($0)?.scalarText } == wanted }
    }

    // MARK: - Constraints

    private func ensurePolicy(_ row: RawJSON) throws(SimulatedRejection) {
        guard !isPolicyOff, !table.isVisible(row, to: userID) else { return }
        throw SimulatedRejection(
            userID == nil ? 401 : 403, code: "42501",
            message: "new row violates row-level security policy for table \"\(name.name)\"")
    }

    /// `before` is the previous key of the row, nil for a new one.
    private func ensureValid(_ row: RawJSON, key: RowKey, before: RowKey?) throws(SimulatedRejection) {
        if let rejection = table.schema.check?(SimulatedRow(value: row)) { throw rejection }
        if key != before, table.rows[key] != nil {
            throw duplicateKey(row, table.schema.primaryKey, "\(name.name)_pkey")
        }
        for columns in table.schema.uniqueColumns {
            guard let other = duplicate(of: row, in: columns), table.key(of: other) != before ?? key else { continue }
            throw duplicateKey(row, columns, "\(name.name)_\(columns.joined(separator: "_"))_key")
        }
        for (column, target) in table.schema.references.sorted(by: { $0.key < $1.key }) {
            guard let value = row.member(column)?.scalarText else { continue }
            let other = SimulatedServer.TableName(schema: name.schema, name: target)
            let rows = other == name ? table.rows : tables[other]?.rows ?? [:]
            guard rows[RowKey(components: [value])] == nil else { continue }
            throw SimulatedRejection(
                409, code: "23503",
                message:
                    "insert or update on table \"\(name.name)\" violates foreign key constraint \"\(name.name)_\(column)_fkey\"",
                details: "Key (\(column))=(\(value)) is not present in table \"\(target)\".")
        }
    }

    private func duplicateKey(_ row: RawJSON, _ columns: [String], _ constraint: String) -> SimulatedRejection {
        let values = columns.map { row.member($0)?.scalarText ?? "" }
        return SimulatedRejection(
            409, code: "23505", message: "duplicate key value violates unique constraint \"\(constraint)\"",
            details: "Key (\(columns.joined(separator: ", ")))=(\(values.joined(separator: ", "))) already exists.")
    }
}

extension SimulatedRejection {
    static let unreadableBody = SimulatedRejection(
        400, code: "PGRST102", message: "Empty or invalid json")
    static let urlTooLong = SimulatedRejection(414, code: "SIM14", message: "URI Too Long")
}

extension SimulatedServer.State {
    /// Applies a successful write.
    mutating func apply(_ write: ServedWrite) {
        tables = write.result
        mutations += write.done
    }
}
