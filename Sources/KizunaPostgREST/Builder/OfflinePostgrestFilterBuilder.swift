/// A request that filters, order and windows can still be added to; every method returns a changed copy.
///
/// `func open<Request: OfflinePostgrestFilterBuilder>(_ request: Request) -> Request { request.eq("done", value: false) }`
/// ⟶ adds `done=eq.false` to whatever request it is given. Nothing is sent while building. Method names and labels are
/// those of supabase-swift. Offline: each method says whether its filter is evaluated on the device; one that is not
/// leaves the row where the last answer had it, and shows a row that was inserted offline.
public protocol OfflinePostgrestFilterBuilder: Sendable {
    /// The request built so far; the one requirement of this protocol. Use the methods to change it.
    var request: TableRequest { get set }
}

extension OfflinePostgrestFilterBuilder {
    /// A copy with one parameter more.
    func adding(_ name: String, _ value: String) -> Self {
        changing { $0.append(name, value) }
    }

    /// A copy with the request changed.
    func changing(_ change: (inout TableRequest) -> Void) -> Self {
        var copy = self
        change(&copy.request)
        return copy
    }
}
