package import KizunaStore

extension TableSchemas {
    /// The shape of a cached query, from the request the store keeps with it.
    package func shape(of metadata: CachedQueryMetadata) -> QueryShape {
        let schema = self[metadata.table]
        return QueryShape(request: TableRequest(metadata), types: schema.types, keyColumns: schema.keyColumns)
    }
}
