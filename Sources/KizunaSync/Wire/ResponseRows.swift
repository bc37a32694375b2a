package import KizunaCore
package import KizunaPostgREST

/// The response to a read, validated and split into rows.
package struct ResponseRows: Sendable {
    package let body: [UInt8]
    package let rows: [JSONArraySplitter.CutRow]
    /// The number of rows that match the request; nil if the server did not count them.
    package let total: Int?
    /// Whether the response is proved to contain all rows of the request.
    package let isComplete: Bool

    /// Splits a response into rows.
    ///
    /// - Throws: `SyncError` if the body is not a JSON array of objects.
    package init(_ response: WireResponse, to request: TableRequest, keyColumns: [String]) throws(SyncError) {
        do {
            rows = try JSONArraySplitter(keyColumns: keyColumns).rows(of: response.body)
        } catch {
            throw SyncError(
                .malformedResponse, Self.message(error, response), table: request.table, underlying: error)
        }
        body = response.body
        total = Self.total(response)
        isComplete = Self.isProvedComplete(rows.count, total, request)
    }

    /// Joins the rows of several responses.
    package init(joined: [RawJSON], isComplete: Bool, table: String, keyColumns: [String]) throws(SyncError) {
        body = RawJSON(elements: joined).bytes
        do {
            rows = try JSONArraySplitter(keyColumns: keyColumns).rows(of: body)
        } catch {
            throw SyncError(
                .malformedResponse, "The pages of the response do not make a JSON array of rows.", table: table,
                underlying: error)
        }
        total = nil
        self.isComplete = isComplete
    }

    /// The rows as values.
    package func all() -> [RawJSON] {
        rows.map { RawJSON(unchecked: Array(body[$0.range])) }
    }

    private static func message(_ fault: JSONFault, _ response: WireResponse) -> String {
        if response.headers["content-type"]?.contains("html") == true {
            return
                "The response is an HTML page, probably of a proxy; it was not stored."
        }
        switch fault {
        case .truncated: return "The response is truncated; it was not stored."
        case .tooDeep: return "The response is nested too deeply; it was not stored."
        case .notText: return "The response is not in UTF-8; it was not stored."
        case .unexpected, .wrongKind: return "The response is not a JSON array of rows; it was not stored."
        }
    }

    /// Returns the number after the slash of `Content-Range: 0-99/250`.
    package static func total(_ response: WireResponse) -> Int? {
        guard let range = response.headers["content-range"], let slash = range.lastIndex(of: "/") else { return nil }
        return Int(range[range.index(after: slash)...])
    }

    /// Without a count, only a response that is empty or reaches the request's own limit is proved complete: a row limit of
    /// the project shortens a response without notice.
    static func isProvedComplete(_ received: Int, _ total: Int?, _ request: TableRequest) -> Bool {
        if let limit = request.limit, received >= limit { return true }
        if let total { return (request.offset ?? 0) + received >= total }
        return received == 0
    }
}
