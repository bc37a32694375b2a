internal import KizunaCore
package import KizunaPostgREST
package import KizunaStore

extension TableRequest {
    /// Makes the request of a cached query from its stored parameters.
    package init(_ metadata: CachedQueryMetadata) {
        self.init(schema: metadata.table.schema, table: metadata.table.name)
        for parameter in metadata.parameters {
            if parameter.name == "select" { columns = parameter.value } else { append(parameter.name, parameter.value) }
        }
    }

    /// The request's parameters as the store keeps them. They are enough to make the request again.
    package var parameters: [QueuedMutation.Filter] {
        items.stored
    }

    /// Whether the rows of the response carry the table's own column names.
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
    /// Stored parameters as items of a request.
    package var items: [QueryItem] { map { QueryItem($0.name, $0.value) } }
}
