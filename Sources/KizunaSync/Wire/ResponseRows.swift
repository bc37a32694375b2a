package import KizunaCore
package import KizunaPostgREST

/// A server answer to a read, checked and cut into rows.
package struct ResponseRows: Sendable {
    package let body: [UInt8]
    package let rows: [JSONArraySplitter.CutRow]
    /// How many rows match, where the server counted them.
    package let total: Int?
    /// Whether the answer is proved to hold every row the request asked for.
    package let isComplete: Bool

    /// Cuts an answer; what is no JSON array of objects is an error that leaves everything stored as it was.
    package init(_ response: WireResponse, to request: TableRequest, keyColumns: [String]) throws(SyncError) {
        do {
            rows = try JSONArraySplitter(keyColumns: keyColumns).rows(of: response.body)
        } catch {
            throw SyncError(
                .malformedResponse, Self.sentence(error, response), table: request.table, underlying: error)
        }
        body = response.body
        total = Self.total(response)
        isComplete = Self.isProvedComplete(rows.count, total, request)
    }

    /// Joins the rows of several answers.
    package init(joined: [RawJSON], isComplete: Bool, table: String, keyColumns: [String]) throws(SyncError) {
        body = RawJSON(elements: joined).bytes
        do {
            rows = try JSONArraySplitter(keyColumns: keyColumns).rows(of: body)
        } catch {
            throw SyncError(
                .malformedResponse, "The pages of the answer do not make a list.", table: table, underlying: error)
        }
        total = nil
        self.isComplete = isComplete
    }

    /// The rows as values.
    package func all() -> [RawJSON] {
        rows.map { RawJSON(unchecked: Array(body[$0.range])) }
    }

    private static func sentence(_ fault: JSONFault, _ response: WireResponse) -> String {
        if response.headers["content-type"]?.contains("html") == true {
            return
                "The answer is an HTML page, so something between the app and the server answered; it was not stored."
        }
        switch fault {
        case .truncated: return "The answer ends in the middle; it was not stored."
        case .tooDeep: return "The answer is nested too deeply; it was not stored."
        case .notText: return "The answer is not in UTF-8; it was not stored."
        case .unexpected, .wrongKind: return "The answer is not a JSON array of rows; it was not stored."
        }
    }

    /// The number behind the slash of `Content-Range: 0-99/250`.
    package static func total(_ response: WireResponse) -> Int? {
        guard let range = response.headers["content-range"], let slash = range.lastIndex(of: "/") else { return nil }
        return Int(range[range.index(after: slash)...])
    }

    /// An answer without a count proves that it is whole only when it reached the request's own limit or is empty: the
    /// project's cap on rows cuts an answer silently.
    static func isProvedComplete(_ received: Int, _ total: Int?, _ request: TableRequest) -> Bool {
        if let limit = request.limit, received >= limit { return true }
        if let total { return (request.offset ?? 0) + received >= total }
        return received == 0
    }
}
