package import KizunaCore
internal import KizunaPostgREST
package import KizunaStore

// Whether an earlier send of an insert arrived. See docs/spec/writes.md, Unknown outcome.

extension QueuedMutation {
    /// Returns whether a row with the key of this insert was made by this insert. That is certain for a client-generated
    /// key; for a key of the app, every column that the insert sets must have a value that may be the same.
    package func isAuthor(of row: RawJSON) -> Bool {
        if hasGeneratedKey { return true }
        switch operation {
        case .insert(let sent), .upsert(let sent, _, _):
            guard let members = try? sent.objectMembers() else { return false }
            return members.allSatisfy { member in
                guard let found = row.member(member.name) else { return false }
                return found == member.value || Self.mayBeSame(found, member)
            }
        case .update, .delete: return false
        }
    }

    /// Whether two unequal texts may stand for the same value. Numbers are compared, and text without a colon differs. Times,
    /// objects, arrays and values of different JSON kinds have several spellings, so they may be the same.
    private static func mayBeSame(_ found: RawJSON, _ sent: RawJSON.Member) -> Bool {
        guard found.kind == sent.value.kind else { return true }
        switch found.kind {
        case .number:
            let condition = FilterExpression(filters: [QueryItem("value", "eq.\(sent.value.text)")])
            let row = RawJSON(members: [.init(name: "value", value: found)])
            return condition.evaluate(RowView(row), in: TableTypes()) != .no
        case .object, .array: return true
        case .string: return sent.value.stringValue?.contains(":") == true
        case .boolean, .null: return false
        }
    }
}
