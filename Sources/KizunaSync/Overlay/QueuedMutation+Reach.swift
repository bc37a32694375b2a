internal import KizunaCore
internal import KizunaPostgREST
internal import KizunaStore

extension QueuedMutation {
    /// Returns a predicate for the rows that an unkeyed update changes: its filters are certainly true. Nil for any other
    /// mutation.
    func reach(in types: TableTypes) -> (@Sendable (RawJSON) -> Bool)? {
        guard rowKeys.isEmpty, case .update(_, let filters) = operation else { return nil }
        let filter = FilterExpression(filters: filters.items).compiled(for: types)
        return { filter.evaluate(RowView($0)) == .yes }
    }
}
