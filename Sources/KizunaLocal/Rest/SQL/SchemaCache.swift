internal import Synchronization

/// The shapes of all tables of the exposed schemas, read from the catalogue.
///
/// It is read again after `NOTIFY pgrst`, after SQL through the backend, and when a name is not found in it.
final class SchemaCache: Sendable {
    private struct State {
        var tables: [String: TableShape] = [:]
        var isStale = true
    }

    private let schemas: [String]
    private let state = Mutex(State())

    init(schemas: [String]) { self.schemas = schemas }

    func invalidate() { state.withLock { $0.isStale = true } }

    /// The table that has all these columns, as far as the catalogue knows now.
    func table(
        _ schema: String, _ name: String, columns: Set<String>, _ connection: PostgresConnection
    ) throws(PostgresFailure) -> TableShape? {
        if connection.takeNotifications() { invalidate() }
        if let known = known(schema, name), columns.allSatisfy({ known.column($0) != nil }) { return known }
        // Of what was just read: another request may have found meanwhile that it is to be read again.
        return try reload(connection)[Self.key(schema, name)]
    }

    func reload(_ connection: PostgresConnection) throws(PostgresFailure) -> [String: TableShape] {
        // Marked first: what changes while the catalogue is read makes it stale again.
        state.withLock { $0.isStale = false }
        do throws(PostgresFailure) {
            let tables = try Self.read(schemas, connection)
            state.withLock { $0.tables = tables }
            return tables
        } catch {
            invalidate()
            throw error
        }
    }

    private func known(_ schema: String, _ name: String) -> TableShape? {
        state.withLock { $0.isStale ? nil : $0.tables[Self.key(schema, name)] }
    }

    private static func key(_ schema: String, _ name: String) -> String { "\(SQLText.quoted(schema)).\(name)" }

    private static func read(
        _ schemas: [String], _ connection: PostgresConnection
    ) throws(PostgresFailure) -> [String: TableShape] {
        // An empty search path makes PostgreSQL write every name of ours with its schema.
        try connection.run(script: "BEGIN READ ONLY; SET LOCAL search_path = ''")
        defer { connection.rollBack() }
        let rows = try connection.query(catalogue, ["{\(schemas.map(quotedElement).joined(separator: ","))}"])
        var tables: [String: TableShape] = [:]
        var keyColumns: [String: [(Int, String)]] = [:]
        for row in 0..<rows.count {
            guard let schema = rows.text(row, 0), let name = rows.text(row, 1), let column = rows.text(row, 2),
                let type = rows.text(row, 3)
            else { continue }
            let key = key(schema, name)
            tables[key, default: TableShape(schema: schema, name: name)].columns.append(
                TableShape.Column(name: column, type: type, defaultExpression: rows.text(row, 4)))
            if let place = rows.integer(row, 5) { keyColumns[key, default: []].append((place, column)) }
        }
        for (key, columns) in keyColumns { tables[key]?.primaryKey = columns.sorted { $0.0 < $1.0 }.map(\.1) }
        return tables
    }

    private static func quotedElement(_ text: String) -> String {
        "\"" + text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"") + "\""
    }

    private static let catalogue = """
        SELECT n.nspname, c.relname, a.attname,
          CASE a.atttypid WHEN 'bpchar'::regtype THEN 'bpchar' WHEN 'bit'::regtype THEN 'varbit'
            ELSE format_type(a.atttypid, NULL) END,
          CASE WHEN a.attidentity <> '' THEN
              format('nextval(%L::regclass)', pg_get_serial_sequence(format('%I.%I', n.nspname, c.relname), a.attname))
            WHEN a.attgenerated = '' THEN pg_get_expr(d.adbin, d.adrelid) END,
          array_position(i.indkey::int2[], a.attnum)
        FROM pg_class c
        JOIN pg_namespace n ON n.oid = c.relnamespace
        JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
        LEFT JOIN pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
        LEFT JOIN pg_index i ON i.indrelid = c.oid AND i.indisprimary
        WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f') AND n.nspname = ANY ($1)
        ORDER BY n.nspname, c.relname, a.attnum
        """
}
