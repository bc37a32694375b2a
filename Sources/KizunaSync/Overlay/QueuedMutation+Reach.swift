internal import KizunaCore
internal import KizunaPostgREST
internal import KizunaStore

extension QueuedMutation {
    /// Which rows an update that names no keys changes: those of which its filters are certainly true.
    func reach(in types: TableTypes) -> (@Sendable (RawJSON) -> Bool)? {
        guard rowKeys.isEmpty, case .update(_, let filters) = operation else { return nil }
        let filter = FilterExpression(filters: filters.items).compiled(for: types)
        return { filter.evaluate(RowView($0)) == .yes }
    }
}
