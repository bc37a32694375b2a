internal import KizunaCore

extension RestSession {
    func read(_ shape: TableShape, isHead: Bool) throws -> HTTPAnswer {
        let counting = call.preferences.count
        let statement = ReadStatement(
            call.query, shape, range: call.range.capped(at: settings.maxRows),
            countsAll: counting == .exact || counting == .estimated, form: isHead ? nil : call.form)
        let (total, count, body): (Int?, Int, [UInt8]) = try transaction(isReadOnly: true) {
            let rows = try connection.query(statement.text, statement.sql.parameters)
            let count = rows.integer(0, 1) ?? 0
            if call.form.isObject, !isHead, count != 1 { throw RestFailure.notOneRow(count) }
            let total = try self.total(counted: rows.integer(0, 0), statement)
            return (total, count, rows.bytes(0, 2) ?? [])
        }
        let range = Self.contentRange(from: call.range.offset, count: count, total: total)
        if let total, call.range.offset > total {
            var failure = RestFailure.offsetPastEnd(call.range.offset, total: total)
            failure.headers = [range]
            return failure.answer(isHead: isHead)
        }
        var applied = call.preferences
        applied.resolution = nil
        applied.returning = nil
        applied.missing = nil
        applied.maxAffected = nil
        return HTTPAnswer(
            status: total.map { count < $0 ? 206 : 200 } ?? 200,
            headers: bodyHeaders + [range] + (applied.applied.map { [$0] } ?? []), body: body)
    }

    /// The number of all rows as the preference wants it: counted, estimated by the planner, or a mixture.
    private func total(counted: Int?, _ statement: ReadStatement) throws -> Int? {
        switch call.preferences.count {
        case nil: return nil
        case .exact: return counted
        case .planned: return try planned(statement)
        case .estimated:
            guard let maxRows = settings.maxRows, let counted, counted > maxRows else { return counted }
            return max(counted, try planned(statement))
        }
    }

    private func planned(_ statement: ReadStatement) throws -> Int {
        let rows = try connection.query(
            "EXPLAIN (FORMAT JSON) \(statement.countText)", statement.countSQL.parameters)
        let plan = try RawJSON(validating: rows.bytes(0, 0) ?? [])
        return try plan.arrayElements().first?.member("Plan")?.member("Plan Rows")?.integerValue ?? 0
    }
}
