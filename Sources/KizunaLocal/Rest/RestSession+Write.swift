internal import KizunaCore

extension RestSession {
    /// What a write has done.
    private struct Outcome {
        let count: Int
        let body: [UInt8]
        /// Rows that were new, where that was counted.
        let inserted: Int?
    }

    func write(_ shape: TableShape) throws -> HTTPAnswer {
        for column in call.payload?.columns ?? [] where shape.column(column) == nil {
            throw RestFailure.noColumn(column, of: call.table)
        }
        let conflict = conflict(shape)
        let key = call.action == .replace ? try putKey(shape) : []
        let outcome = try perform(statement(shape, conflict, key), countsInserted: conflict?.resolution == .merge)
        switch call.action {
        case .insert: return inserted(outcome, shape, conflict)
        case .replace: return replaced(outcome)
        case .update: return updated(outcome)
        default: return deleted(outcome)
        }
    }

    // MARK: - The statement

    /// Nil for an update without columns, which changes nothing.
    private func statement(
        _ shape: TableShape, _ conflict: WriteStatement.Conflict?, _ key: [Condition]
    ) throws(RestFailure) -> WriteStatement? {
        let returning: WriteStatement.Returned =
            switch call.preferences.returning {
            case .representation: .rows(call.query, call.form)
            case .headersOnly where call.action == .insert && !shape.primaryKey.isEmpty: .key
            default: .nothing
            }
        let fillsDefaults = call.preferences.missing == .default
        guard let payload = call.payload else {
            try checkFilter("DELETE")
            return .delete(shape, filters: call.query.filters, returning: returning)
        }
        guard call.action == .update else {
            return .insert(
                payload, shape, conflict: conflict, putKey: key, fillsDefaults: fillsDefaults, returning: returning)
        }
        guard !payload.columns.isEmpty else { return nil }
        try checkFilter("UPDATE")
        return .update(
            payload, shape, filters: call.query.filters, fillsDefaults: fillsDefaults, returning: returning)
    }

    /// Hosted projects load an extension that refuses a write to all rows; this says the same.
    private func checkFilter(_ verb: String) throws(RestFailure) {
        guard settings.requiresFilterOnWrites, call.query.filters.isEmpty else { return }
        throw RestFailure(400, "21000", "\(verb) requires a WHERE clause")
    }

    private func conflict(_ shape: TableShape) -> WriteStatement.Conflict? {
        if call.action == .replace { return .init(columns: shape.primaryKey, resolution: .merge) }
        guard call.action == .insert, let resolution = call.preferences.resolution else { return nil }
        return .init(columns: call.query.onConflict ?? shape.primaryKey, resolution: resolution)
    }

    /// The conditions of a PUT: `eq` on every column of the primary key, and nothing else.
    private func putKey(_ shape: TableShape) throws(RestFailure) -> [Condition] {
        let conditions = call.query.plainFilters
        let isRight =
            !conditions.isEmpty && conditions.count == call.query.filters.count
            && conditions.count == shape.primaryKey.count
            && Set(conditions.map(\.field.name)) == Set(shape.primaryKey)
            && conditions.allSatisfy { condition in
                guard case .compare("=", nil, _) = condition.operation else { return false }
                return !condition.isNegated && condition.field.path.isEmpty
            }
        guard isRight else {
            throw RestFailure(
                405, "PGRST105", "Filters must include all and only primary key columns with 'eq' operators")
        }
        return conditions
    }

    private func perform(_ statement: WriteStatement?, countsInserted: Bool) throws -> Outcome {
        try transaction(isReadOnly: false) {
            guard let statement else {
                if call.form.isObject { throw RestFailure.notOneRow(0) }
                return Outcome(count: 0, body: Array((call.form == .csv ? "" : "[]").utf8), inserted: nil)
            }
            let rows = try connection.query(statement.text, statement.sql.parameters)
            let count = rows.integer(0, 0) ?? 0
            if call.action == .replace, count != 1 {
                throw RestFailure(
                    400, "PGRST115", "Payload values do not match URL in primary key column(s)")
            }
            if call.form.isObject, count != 1 { throw RestFailure.notOneRow(count) }
            try checkAffected(count)
            let inserted =
                countsInserted ? try connection.query(WriteStatement.insertedSetting).integer(0, 0) : nil
            return Outcome(count: count, body: rows.bytes(0, 1) ?? [], inserted: inserted)
        }
    }

    private func checkAffected(_ count: Int) throws(RestFailure) {
        guard call.action == .update || call.action == .delete, call.preferences.handling == .strict,
            let most = call.preferences.maxAffected, count > most
        else { return }
        throw RestFailure(
            400, "PGRST124", "Query result exceeds max-affected preference constraint",
            details: "The query affects \(count) rows")
    }

    // MARK: - The answer

    private func inserted(
        _ outcome: Outcome, _ shape: TableShape, _ conflict: WriteStatement.Conflict?
    ) -> HTTPAnswer {
        var applied = call.preferences
        applied.maxAffected = nil
        if conflict?.columns.isEmpty == true { applied.resolution = nil }
        let isAllOld = outcome.inserted.map { $0 <= 0 } ?? false
        var answer = answer(isAllOld ? 200 : 201, outcome, applied, isAlwaysBare: false)
        answer.headers.append(Self.contentRange(from: 0, count: 0, total: countedTotal(outcome)))
        if call.preferences.returning == .headersOnly, outcome.count == 1, let location = location(outcome, shape) {
            answer.headers.append(HTTPHeader("Location", location))
        }
        return answer
    }

    private func replaced(_ outcome: Outcome) -> HTTPAnswer {
        var applied = call.preferences
        applied.resolution = nil
        applied.missing = nil
        applied.maxAffected = nil
        return answer((outcome.inserted ?? 0) > 0 ? 201 : 200, outcome, applied, isAlwaysBare: true)
    }

    private func updated(_ outcome: Outcome) -> HTTPAnswer {
        var applied = call.preferences
        applied.resolution = nil
        var answer = answer(200, outcome, applied, isAlwaysBare: true)
        answer.headers.append(
            Self.contentRange(from: 0, count: outcome.count, total: countedTotal(outcome)))
        return answer
    }

    private func deleted(_ outcome: Outcome) -> HTTPAnswer {
        var applied = call.preferences
        applied.resolution = nil
        applied.missing = nil
        var answer = answer(200, outcome, applied, isAlwaysBare: true)
        answer.headers.append(Self.contentRange(from: 0, count: 0, total: countedTotal(outcome)))
        return answer
    }

    private func countedTotal(_ outcome: Outcome) -> Int? {
        call.preferences.count == .exact || call.preferences.count == .estimated ? outcome.count : nil
    }

    /// With a representation the given status and the rows; without one nothing, and 204 where the method says so.
    private func answer(
        _ status: Int, _ outcome: Outcome, _ applied: Preferences, isAlwaysBare: Bool
    ) -> HTTPAnswer {
        let preference = applied.applied.map { [$0] } ?? []
        guard call.preferences.returning == .representation else {
            return HTTPAnswer(status: isAlwaysBare ? 204 : status, headers: preference)
        }
        return HTTPAnswer(status: status, headers: bodyHeaders + preference, body: outcome.body)
    }

    /// Where the one new row can be read.
    private func location(_ outcome: Outcome, _ shape: TableShape) -> String? {
        guard let rows = try? RawJSON(validating: outcome.body).arrayElements(), let row = rows.first else {
            return nil
        }
        let conditions = shape.primaryKey.map { column in
            let value = row.member(column).flatMap { $0.isNull ? nil : $0.scalarText ?? $0.text }
            return QueryText.encoded(column) + "=" + (value.map { "eq." + QueryText.encoded($0) } ?? "is.null")
        }
        return conditions.isEmpty ? nil : "/\(QueryText.encoded(call.table))?" + conditions.joined(separator: "&")
    }
}
