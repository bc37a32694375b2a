public import Foundation
public import KizunaCore
public import KizunaPostgREST

/// What `KizunaSyncClient.create(_:)` needs to know.
public struct KizunaSyncConfiguration: Sendable {
    /// The Supabase project's URL, for example `https://abc.supabase.co`.
    public var url: URL
    /// The project's publishable (anonymous) key. It is sent with each request and never written to disk.
    public var publishableKey: String
    /// The folder for the store files. It is made when missing, readable by this user alone.
    public var dataDirectory: URL
    /// The app's session, or nil when the app hands over tokens with `setAccessToken(_:)`.
    public var session: (any SessionSource)?
    /// What is known of single tables. A table that is not named has the primary key `id` and minted keys.
    public var tables: [KizunaTable]
    /// Whether an empty answer is believed when nobody is signed in.
    public var responseTrust: ResponseTrust
    /// What becomes of a user's store when the user signs out.
    public var signOutPolicy: SignOutPolicy
    /// What happens when a token of another user comes.
    public var identityPolicy: IdentityPolicy
    /// Whether `like`, `ilike` and regular expressions are evaluated on the device. By default they are not: a row made
    /// offline shows in every search until the list is fetched again.
    public var patternEvaluation: KizunaPatternEvaluation
    /// Whether reads ask for further pages until they hold every row; a table may say otherwise.
    public var completeness: KizunaCompleteness
    /// Whether an update or delete is folded into the insert of its row while that has never been sent: fewer requests,
    /// and the same rows in the end. Off by default, since triggers and audit tables see each request.
    public var compactsUnsentWrites = false
    /// What is known of the network path; nil believes the network to be up.
    public var networkAvailability: (any KizunaSyncPathMonitor)?
    /// Where log lines go.
    public var log: any LogSink
    /// How long a request may take.
    public var requestTimeout: Duration
    /// Sizes the store and the queue keep to.
    public var limits: KizunaSyncLimits

    /// Makes a configuration; only the first three have no default.
    public init(
        url: URL, publishableKey: String, dataDirectory: URL, session: (any SessionSource)? = nil,
        tables: [KizunaTable] = [], responseTrust: ResponseTrust = .anySession,
        signOutPolicy: SignOutPolicy = .keep, identityPolicy: IdentityPolicy = .switchOwner,
        patternEvaluation: KizunaPatternEvaluation = .never, completeness: KizunaCompleteness = .asAnswered,
        networkAvailability: (any KizunaSyncPathMonitor)? = nil, log: any LogSink = SilentLogSink(),
        requestTimeout: Duration = .seconds(30), limits: KizunaSyncLimits = KizunaSyncLimits()
    ) {
        self.url = url
        self.publishableKey = publishableKey
        self.dataDirectory = dataDirectory
        self.session = session
        self.tables = tables
        self.responseTrust = responseTrust
        self.signOutPolicy = signOutPolicy
        self.identityPolicy = identityPolicy
        self.patternEvaluation = patternEvaluation
        self.completeness = completeness
        self.networkAvailability = networkAvailability
        self.log = log
        self.requestTimeout = requestTimeout
        self.limits = limits
    }
}

extension KizunaSyncConfiguration: CustomStringConvertible, CustomReflectable {
    /// The project's host and the folder; never the key, nor a password in the URL.
    public var description: String { "KizunaSyncConfiguration(\(url.host() ?? "no host"), \(dataDirectory.path))" }

    /// As `description`: `dump(_:)` must not show the key or what the session holds either.
    public var customMirror: Mirror {
        Mirror(self, children: ["host": url.host() ?? "no host", "dataDirectory": dataDirectory.path])
    }
}

/// What is known of one table.
public struct KizunaTable: Sendable {
    /// The table's name.
    public var name: String
    /// The schema it is in.
    public var schema: String
    /// The columns of the primary key, in order.
    public var primaryKey: [String]
    /// Whether a row inserted without a key gets a UUIDv7. Turn it off where the server makes the keys; such a row
    /// cannot be changed again until it was fetched.
    public var generatesKeys: Bool
    /// The columns' types by name. They decide what a filter means, so declared types let more of it be evaluated offline.
    public var columns: [String: KizunaColumnType]
    /// Foreign keys: the column, and the table whose primary key it holds. A row waits for the row it refers to.
    public var references: [String: String]
    /// Whether reads of this table ask for further pages until they hold every row; nil is what the configuration says.
    public var completeness: KizunaCompleteness?

    /// Describes a table; everything but the name has a default.
    public init(
        _ name: String, schema: String = "public", primaryKey: [String] = ["id"], generatesKeys: Bool = true,
        columns: [String: KizunaColumnType] = [:], references: [String: String] = [:],
        completeness: KizunaCompleteness? = nil
    ) {
        self.name = name
        self.schema = schema
        self.primaryKey = primaryKey
        self.generatesKeys = generatesKeys
        self.columns = columns
        self.references = references
        self.completeness = completeness
    }
}

/// Sizes the store and the queue keep to.
///
/// See docs/spec/reads.md, Limits.
public struct KizunaSyncLimits: Sendable, Hashable {
    /// Writes that may wait; one more throws `queueFull`.
    public var pendingMutations = 10_000
    /// Bytes of one queued row.
    public var mutationBytes = 1_048_576
    /// Bytes of all cached answers; the least recently used go first, never one that is iterated.
    public var cacheBytes = 64 * 1_048_576
    /// Bytes of one cached answer. A larger one is kept while a live read iterates it, and goes when it is not.
    public var queryBytes = 4 * 1_048_576
    /// Cached requests.
    public var cachedQueries = 2_000

    /// The default sizes.
    public init() {}
}
