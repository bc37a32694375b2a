/// A request to which filters, order and limits can be added; every method returns a changed copy.
///
/// `func open<Request: OfflinePostgrestFilterBuilder>(_ request: Request) -> Request { request.eq("done", value: false) }`
/// ⟶ adds `done=eq.false` to any request. Building sends nothing. Method names and labels are those of
/// supabase-swift. Offline: the documentation of each method states whether its filter is evaluated on the device. A
/// filter that is not evaluated leaves each row in the lists of the last response and shows rows inserted offline.
public protocol OfflinePostgrestFilterBuilder: Sendable {
    /// The request built so far, changed by the methods. This is the only requirement of the protocol.
    var request: TableRequest { get set }
}

extension OfflinePostgrestFilterBuilder {
    /// Returns a copy with one more parameter.
    func adding(_ name: String, _ value: String) -> Self {
        changing { $0.append(name, value) }
    }

    /// Returns a copy with a changed request.
    func changing(_ change: (inout TableRequest) -> Void) -> Self {
        var copy = self
        change(&copy.request)
        return copy
    }
}
