/// How a local backend is set up. Every value has a default that suits a test.
package struct LocalSettings: Sendable {
    /// Where the data is kept; nil throws it away at the end.
    package var dataDirectory: String?
    /// SQL files to run before the first request, in this order.
    package var sqlFiles: [String]
    /// SQL texts to run after the files.
    package var sql: [String]
    /// The port on 127.0.0.1; 0 takes a free one.
    package var port: Int
    /// The secret that signs tokens; nil takes the random secret of the database, which lasts as long as its data.
    package var jwtSecret: String?
    /// The schemas that the REST interface shows; the first is the default one.
    package var schemas: [String]
    /// The most rows one answer holds; nil sets no limit. A hosted project has 1,000.
    package var maxRows: Int?
    /// Whether `select` may hold aggregate functions; a hosted project does not allow them.
    package var allowsAggregates: Bool
    /// Whether `Prefer: tx=rollback` is obeyed.
    package var allowsTransactionOverride: Bool
    /// Whether an update or delete without a filter is refused, as a hosted project does.
    package var requiresFilterOnWrites: Bool
    /// An ICU locale such as `en-US` for the order of texts; nil orders by code point.
    package var icuLocale: String?
    /// The largest request body in bytes.
    package var bodyLimit: Int
    /// How long an access token holds.
    package var tokenLifetime: Duration
    /// How long a used refresh token may be used again.
    package var refreshReuseInterval: Duration

    package init(
        dataDirectory: String? = nil, sqlFiles: [String] = [], sql: [String] = [], port: Int = 0,
        jwtSecret: String? = nil, schemas: [String] = ["public"],
        maxRows: Int? = nil, allowsAggregates: Bool = false, allowsTransactionOverride: Bool = false,
        requiresFilterOnWrites: Bool = true,
        icuLocale: String? = nil, bodyLimit: Int = 32 << 20, tokenLifetime: Duration = .seconds(3600),
        refreshReuseInterval: Duration = .seconds(10)
    ) {
        self.dataDirectory = dataDirectory
        self.sqlFiles = sqlFiles
        self.sql = sql
        self.port = port
        self.jwtSecret = jwtSecret
        self.schemas = schemas
        self.maxRows = maxRows
        self.allowsAggregates = allowsAggregates
        self.allowsTransactionOverride = allowsTransactionOverride
        self.requiresFilterOnWrites = requiresFilterOnWrites
        self.icuLocale = icuLocale
        self.bodyLimit = bodyLimit
        self.tokenLifetime = tokenLifetime
        self.refreshReuseInterval = refreshReuseInterval
    }
}
