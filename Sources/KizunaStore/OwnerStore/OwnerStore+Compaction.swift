package import KizunaCore

// Folding a new write into an insert that has never been sent, where the server could tell no difference but fewer
// requests (docs/spec/writes.md, Merging unsent mutations).

extension OwnerStore {
    /// What became of a new write that was to be folded.
    enum Folded {
        /// Nothing to fold it into: it is queued as it is.
        case no
        /// The waiting insert now says what the update said.
        case intoInsert
        /// The insert and everything of its row left the queue; the delete has nothing to do.
        case cancelledOut
    }

    /// Folds an update or delete that names one row by its key alone into that row's insert, when the insert has never been
    /// sent and nothing but other rows of the same table was queued behind it.
    func fold(_ entry: QueuedMutation, in change: inout StoreChange) throws(SyncError) -> Folded {
        guard entry.isCompactable, entry.rowKeys.count == 1 else { return .no }
        let ofRow = try queue.entries(of: entry.table, key: entry.rowKeys[0])
        guard let first = ofRow.first, case .insert(let row) = first.operation, first.group == nil,
            ofRow.allSatisfy({ !$0.maybeSent && $0.attempts == 0 && $0.group == nil }),
            try queue.hasOnlyRows(of: entry.table, after: first.sequence)
        else { return .no }
        _ = nextVersion()
        switch entry.operation {
        case .update(let patch, _) where ofRow.count == 1:
            guard let changes = try? patch.objectMembers() else { return .no }
            var folded = first
            folded.operation = .insert(row: row.merging(changes))
            try queue.setOperation(folded)
            try deliveries.alias(entry.id, to: first.id)
            change.rewritten.append(folded)
            return .intoInsert
        case .delete:
            for waiting in ofRow {
                try queue.delete(id: waiting.id)
                depth -= 1
                change.ended.append(.init(id: waiting.id, table: waiting.table, fate: .withdrawn))
            }
            try deliveries.insert(id: entry.id, rows: RawJSON(elements: []))
            return .cancelledOut
        default: return .no
        }
    }

    /// The ids under which the verdicts on writes are found: that of the insert one was folded into, else its own.
    package func outcomeIDs(of ids: [String]) throws(SyncError) -> [String] {
        try ensureOpen()
        var targets: [String] = []
        for id in ids { targets.append(try deliveries.target(of: id) ?? id) }
        return targets
    }
}
