package import KizunaStore

extension TableSchemas {
    /// Returns the shape of a cached query, from the request in its metadata.
    package func shape(of metadata: CachedQueryMetadata) -> QueryShape {
        let schema = self[metadata.table]
        return QueryShape(request: TableRequest(metadata), types: schema.types, keyColumns: schema.keyColumns)
    }
}
