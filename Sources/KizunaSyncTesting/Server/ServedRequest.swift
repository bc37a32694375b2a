internal import Foundation
internal import KizunaCore
internal import KizunaPostgREST

/// A request, parsed by a simulated server.
struct ServedRequest {
    let method: String
    let schema: String
    let table: String
    /// Decoded parameters in order.
    let items: [QueryItem]
    let body: [UInt8]
    let accept: String
    let prefer: Set<String>
    let bearer: String?

    init(_ request: WireRequest) throws(SimulatedRejection) {
        let marker = "/rest/v1/"
        guard let start = request.url.firstRange(of: marker) else {
            throw SimulatedRejection(404, code: "PGRST125", message: "Invalid path specified in request URL")
        }
        let rest = request.url[start.upperBound...]
        let parts = rest.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        func header(_ name: String) -> String? {
            request.headers.last { $0.name.lowercased() == name }?.value
        }
        method = request.method
        table = Self.decoded(parts[0])
        items =
            parts.count < 2 || parts[1].isEmpty
            ? []
            : parts[1].split(separator: "&").map { piece in
                let pair = piece.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
                return QueryItem(Self.decoded(pair[0]), pair.count > 1 ? Self.decoded(pair[1]) : "")
            }
        body = request.body ?? []
        accept = header("accept") ?? "application/json"
        prefer = Set(
            request.headers.filter { $0.name.lowercased() == "prefer" }.flatMap { $0.value.split(separator: ",") }
                .map { $0.trimmingCharacters(in: .whitespaces) })
        schema =
            header(request.method == "GET" || request.method == "HEAD" ? "accept-profile" : "content-profile")
            ?? "public"
        bearer = header("authorization").flatMap { $0.hasPrefix("Bearer ") ? String($0.dropFirst(7)) : nil }
    }

    private static func decoded(_ text: Substring) -> String {
        let spaced = text.replacing("+", with: " ")
        return String(spaced).removingPercentEncoding ?? String(spaced)
    }

    func value(_ name: String) -> String? { items.last { $0.name == name }?.value }

    var filters: [QueryItem] {
        let others: Set<String> = ["select", "order", "limit", "offset", "columns", "on_conflict"]
        return items.filter { !others.contains($0.name) }
    }

    /// The same query as a `TableRequest`.
    var query: TableRequest {
        var request = TableRequest(schema: schema, table: table, columns: value("select") ?? "*")
        for item in items where item.name != "select" { request.append(item.name, item.value) }
        return request
    }

    var wantsRows: Bool { prefer.contains("return=representation") }
    var wantsExactCount: Bool { prefer.contains { $0.hasPrefix("count=") } }
}
