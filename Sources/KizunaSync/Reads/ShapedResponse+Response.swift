internal import Foundation
internal import KizunaCore
internal import KizunaPostgREST

extension RawSnapshot {
    /// The response to a request whose shape the store cannot hold.
    init(response: ShapedResponse, count: Int?, fetchedAt: Date) {
        self.init(
            rows: nil, isFromCache: false, fetchedAt: fetchedAt, hasPendingMutations: false, refresh: .idle,
            isComplete: false)
        self.response = response
        self.count = count
    }
}

extension ShapedResponse {
    /// Reads a response in the shape the request asks for.
    init(_ response: WireResponse, to request: TableRequest) throws(SyncError) {
        if request.isHead || response.status == 204 {
            self = .nothing
            return
        }
        switch request.shape {
        case .csv: self = .text(response.body)
        case .explain where response.headers["content-type"]?.contains("json") != true: self = .text(response.body)
        case .rows, .single, .maybeSingle, .geojson, .explain:
            guard let json = try? RawJSON(validating: response.body), json.isOfKind(of: request) else {
                throw SyncError(
                    .malformedResponse, "The answer is not JSON of the shape asked for.", table: request.table)
            }
            self = .json(json)
        }
    }
}

extension RawJSON {
    func isOfKind(of request: TableRequest) -> Bool {
        switch request.shape {
        case .rows: kind == .array
        case .single, .maybeSingle, .geojson: kind == .object
        case .csv, .explain: true
        }
    }
}

extension Gateway.ReadFailure {
    /// Whether the server says that no row matches a request for one or none.
    func isNoRow(of request: TableRequest) -> Bool {
        request.shape == .maybeSingle && error.server?.code == "PGRST116"
            && error.server?.details?.contains("0 rows") == true
    }
}

extension SyncError {
    /// Whether a read that may fall back on the cache does so for this error.
    var isReasonForCache: Bool {
        switch code {
        case .connectivity, .networkDisabled, .sessionNotSettled, .closed: true
        default: false
        }
    }
}
