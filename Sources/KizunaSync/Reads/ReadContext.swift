package import KizunaCore
package import KizunaPostgREST
package import KizunaStore

/// What reads need of the engine they run in.
package protocol ReadContext: AnyObject, Sendable {
    var environment: SyncEnvironment { get }
    var gateway: Gateway { get }
    var logicalClock: LogicalClock { get }
    var trust: ResponseTrust { get }
    func tables(_ table: TableID) -> TableSchema
    /// With what a request of this generation may go out now.
    func credentials(generation: Int) -> OwnerMachine.Credentials
    /// The server did not accept this token.
    func tokenRejected(_ token: String)
    /// A list was stored, so that others may have to go.
    func listStored(in handle: OwnerStoreHandle) async
}

/// What the configuration says of one table.
package struct TableSchema: Sendable {
    package let keyColumns: [String]
    package let types: TableTypes
    package let generatesKeys: Bool
    /// Foreign keys: column, and the table whose key it holds.
    package let references: [String: TableID]
    package let completeness: KizunaCompleteness
    /// Whether the configuration speaks of the table.
    package let isDeclared: Bool

    package init(
        keyColumns: [String] = ["id"], types: TableTypes = TableTypes(), generatesKeys: Bool = true,
        references: [String: TableID] = [:], completeness: KizunaCompleteness = .asAnswered,
        isDeclared: Bool = false
    ) {
        self.isDeclared = isDeclared
        self.completeness = completeness
        self.keyColumns = keyColumns
        self.types = types
        self.generatesKeys = generatesKeys
        self.references = references
    }
}

/// Whether an empty answer is believed when nobody is signed in.
///
/// Row level security answers an absent or expired identity with an empty list instead of an error.
///
/// See docs/spec/reads.md, Response trust.
public enum ResponseTrust: Sendable, Hashable {
    /// Every answer is stored.
    case anySession
    /// An empty answer is stored only for a signed-in user; a signed-out read of an empty table stays `refreshing`.
    case authenticatedSessionOnly
}

extension TableRequest {
    /// The request's parameters as the store keeps them, enough to make the request again.
    package var parameters: [QueuedMutation.Filter] {
        items.stored
    }

    /// Whether answered rows carry the table's own column names.
    package var hasPlainColumns: Bool {
        switch selectedColumns {
        case .all: true
        case .list(let columns): columns.allSatisfy { $0.name == $0.column }
        case .notFollowable: false
        }
    }
}

extension [QueryItem] {
    /// The parameters as the store keeps them.
    package var stored: [QueuedMutation.Filter] { map { QueuedMutation.Filter(name: $0.name, value: $0.value) } }
}

extension [QueuedMutation.Filter] {
    /// Stored parameters in the words of the request language.
    package var items: [QueryItem] { map { QueryItem($0.name, $0.value) } }
}
