package import KizunaCore
package import KizunaPostgREST

/// A server answer to a read, checked and cut into rows.
package struct AnswerRows: Sendable {
    package let body: [UInt8]
    package let rows: [RowCutter.CutRow]
    /// Whether the answer holds every row the request asked for, as far as `Content-Range` tells.
    package let isComplete: Bool

    /// Cuts an answer; what is no JSON array of objects is an error that leaves everything stored as it was.
    package init(_ response: WireResponse, to request: TableRequest, keyColumns: [String]) throws(SyncError) {
        do {
            rows = try RowCutter(keyColumns: keyColumns).rows(of: response.body)
        } catch {
            throw SyncError(
                .malformedAnswer, Self.sentence(error, response), table: request.table, underlying: error)
        }
        body = response.body
        isComplete = Self.isComplete(response.headers["content-range"], request)
    }

    private static func sentence(_ fault: JSONFault, _ response: WireResponse) -> String {
        if response.headers["content-type"]?.contains("html") == true {
            return
                "The answer is an HTML page, so something between the app and the server answered; it was not stored."
        }
        switch fault {
        case .truncated: return "The answer ends in the middle; it was not stored."
        case .tooDeep: return "The answer is nested too deeply; it was not stored."
        case .unexpected, .wrongKind: return "The answer is not a JSON array of rows; it was not stored."
        }
    }

    /// `0-99/250` says that 250 rows match; without a total the range is taken for whole.
    static func isComplete(_ contentRange: String?, _ request: TableRequest) -> Bool {
        guard let contentRange else { return true }
        let parts = contentRange.split(separator: "/")
        guard parts.count == 2, let total = Int(parts[1]) else { return true }
        let bounds = parts[0].split(separator: "-").compactMap { Int($0) }
        let received = bounds.count == 2 ? bounds[1] + 1 : request.offset ?? 0
        let wanted = request.limit.map { min(total, (request.offset ?? 0) + $0) } ?? total
        return received >= wanted
    }
}
