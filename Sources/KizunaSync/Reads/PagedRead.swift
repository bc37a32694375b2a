internal import KizunaCore
internal import KizunaPostgREST

/// Pulls a range of rows page by page and makes one answer of it.
struct PagedRead {
    let request: TableRequest
    let keyColumns: [String]
    let gateway: Gateway

    func rows(as credentials: Credentials) async throws -> ResponseRows {
        var machine = PageMachine(offset: request.offset, limit: request.limit)
        var step = machine.first
        var pulled: [RawJSON] = []
        while true {
            switch step {
            case .finished(let isComplete):
                return try ResponseRows(
                    joined: pulled, isComplete: isComplete, table: request.table, keyColumns: keyColumns)
            case .ask(let offset, let limit):
                let page = try await page(offset, limit, credentials)
                let decision =
                    page.map { machine.answered($0.rows, total: $0.total) } ?? machine.rangeRejected()
                if decision.voidsPreviousPages { pulled = [] }
                if let page { pulled += decision.taken.map { page.rows[$0].json } }
                step = decision.next
            }
        }
    }

    /// A page; nil where the server says that it begins behind the last row.
    private func page(
        _ offset: Int, _ limit: Int?, _ credentials: Credentials
    ) async throws -> (rows: [(key: RowKey?, json: RawJSON)], total: Int?)? {
        var page = request
        page.count = .exact
        for column in keyColumns where !request.order.contains(where: { $0.column == column }) {
            page.appendOrder("order", "\(WireText.columnName(column)).asc.nullslast")
        }
        if offset > 0 { page.set("offset", to: String(offset)) }
        if let limit { page.set("limit", to: String(limit)) }
        do {
            let response = try await gateway.read(page, as: credentials)
            let parsed = try ResponseRows(response, to: page, keyColumns: keyColumns)
            return (parsed.rows.map { ($0.key, RawJSON(unchecked: Array(parsed.body[$0.range]))) }, parsed.total)
        } catch let failure as Gateway.ReadFailure where failure.error.server?.status == 416 {
            return nil
        }
    }
}
