internal import KizunaCore
internal import KizunaPostgREST

/// A read on a simulated server.
struct ServedRead {
    let request: ServedRequest
    let userID: String?
    let maxRows: Int?

    func response(from table: inout ServedTable) throws(SimulatedRejection) -> WireResponse {
        let question = request.query
        let matching = try table.response(request.filters, sortedBy: question.order, to: userID)
        let offset = question.offset ?? 0
        let limit = min(question.limit ?? .max, maxRows ?? .max)
        let total = request.wantsExactCount ? matching.count : nil
        if let total, offset > total {
            throw SimulatedRejection(
                416, code: "PGRST103", message: "Requested range not satisfiable",
                details: "An offset of \(offset) was requested, but there are only \(total) rows.")
        }
        let page = Array(matching.dropFirst(offset).prefix(limit))
        let rows = try Self.projected(page, by: question)
        var headers = ["content-range": Self.range(offset, rows.count, total)]
        let body = try self.body(rows, &headers)
        let isPart = total.map { offset > 0 || rows.count < $0 } ?? false
        return WireResponse(
            status: isPart ? 206 : 200, headers: headers, body: request.method == "HEAD" ? [] : body)
    }

    static func range(_ offset: Int, _ count: Int, _ total: Int?) -> String {
        let bounds = count > 0 ? "\(offset)-\(offset + count - 1)" : "*"
        return "\(bounds)/\(total.map(String.init) ?? "*")"
    }

    /// Returns the rows with the columns that the request selects.
    static func projected(_ rows: [RawJSON], by question: TableRequest) throws(SimulatedRejection) -> [RawJSON] {
        switch question.selectedColumns {
        case .all: return rows
        case .notFollowable:
            throw SimulatedRejection(501, code: "SIM02", message: "The simulated server selects plain columns alone.")
        case .list(let columns):
            return rows.map { row in
                RawJSON(
                    members: columns.map { .init(name: $0.name, value: row.member($0.column) ?? .null) })
            }
        }
    }

    private func body(_ rows: [RawJSON], _ headers: inout [String: String]) throws(SimulatedRejection) -> [UInt8] {
        if request.accept.hasPrefix("application/vnd.pgrst.object") {
            guard rows.count == 1 else {
                throw SimulatedRejection(
                    406, code: "PGRST116", message: "Cannot coerce the result to a single JSON object",
                    details: "The result contains \(rows.count) rows")
            }
            headers["content-type"] = "application/vnd.pgrst.object+json; charset=utf-8"
            return rows[0].bytes
        }
        if request.accept.hasPrefix("text/csv") {
            headers["content-type"] = "text/csv; charset=utf-8"
            return Array(Self.csv(rows).utf8)
        }
        headers["content-type"] = "application/json; charset=utf-8"
        return RawJSON(elements: rows).bytes
    }

    private static func csv(_ rows: [RawJSON]) -> String {
        let names = ((try? rows.first?.objectMembers()) ?? []).map(\.name)
        let lines = rows.map { row in names.map { cell(row.member($0)) }.joined(separator: ",") }
        return ([names.joined(separator: ",")] + lines).joined(separator: "\n")
    }

    private static func cell(_ value: RawJSON?) -> String {
        guard let value, !value.isNull else { return "" }
        let text = value.scalarText ?? value.text
        guard text.contains(where: { $0 == "," || $0 == "\"" || $0 == "\n" }) else { return text }
        return "\"" + text.replacing("\"", with: "\"\"") + "\""
    }
}
