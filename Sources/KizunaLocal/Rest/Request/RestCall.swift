/// A request to a table, read as far as that is possible without the catalogue.
struct RestCall: Sendable {
    enum Action: Sendable, Equatable {
        case read(isHead: Bool)
        case insert
        case replace
        case update
        case delete
        case options

        var isRead: Bool {
            if case .read = self { true } else { false }
        }
    }

    let action: Action
    let schema: String
    let table: String
    let query: RestQuery
    let range: RowRange
    let preferences: Preferences
    let form: AnswerForm
    /// Nil where the method carries none.
    let payload: RowPayload?
    /// Set where the client could have asked for another schema.
    let profileHeader: HTTPHeader?

    static func parse(_ request: HTTPRequest, _ settings: LocalSettings) throws(RestFailure) -> RestCall {
        let table = try table(request)
        let (schema, isNegotiated) = try schema(request, settings.schemas)
        let action = try action(request.method)
        let query = try RestQuery.parse(request.query ?? "")
        let range = try RowRange.parse(
            limit: query.limit, offset: query.offset, header: request.header("Range"), method: request.method)
        if action == .replace, !range.isAll {
            throw RestFailure(400, "PGRST114", "limit/offset querystring parameters are not allowed for PUT")
        }
        let columns = action == .insert || action == .update ? query.columns : nil
        let hasBody = action == .insert || action == .update || action == .replace
        let payload =
            hasBody
            ? try RowPayload.parse(request.body, contentType: request.header("Content-Type"), columns: columns) : nil
        let preferences = Preferences(
            headers: request.headers.all(named: "Prefer"),
            allowsTransactionOverride: settings.allowsTransactionOverride)
        if preferences.handling == .strict, !preferences.unknown.isEmpty {
            throw .invalidPreferences(preferences.unknown)
        }
        try refuseUnserved(query, allowsAggregates: settings.allowsAggregates, isWhole: action.isRead && range.isAll)
        return RestCall(
            action: action, schema: schema, table: table, query: query, range: range, preferences: preferences,
            form: try AnswerForm.choose(request.header("Accept")), payload: payload,
            profileHeader: isNegotiated ? HTTPHeader("Content-Profile", schema) : nil)
    }

    private static func table(_ request: HTTPRequest) throws(RestFailure) -> String {
        var steps: [String] = []
        for step in request.path.dropFirst("/rest/v1".count).split(separator: "/") {
            steps.append(try QueryText.decoded(step, plusIsBlank: false))
        }
        switch steps.count {
        case 0: throw .notServed("the description of the schema")
        case 1: return steps[0]
        case 2 where steps[0] == "rpc":
            guard ["GET", "HEAD", "POST", "OPTIONS"].contains(request.method) else {
                throw RestFailure(405, "PGRST101", "Cannot use the \(request.method) method on RPC")
            }
            throw .notServed("calls of functions")
        default: throw RestFailure(404, "PGRST125", "Invalid path specified in request URL")
        }
    }

    private static func schema(
        _ request: HTTPRequest, _ exposed: [String]
    ) throws(RestFailure) -> (String, isNegotiated: Bool) {
        let isWrite = ["POST", "PATCH", "PUT", "DELETE"].contains(request.method)
        guard let wanted = request.header(isWrite ? "Content-Profile" : "Accept-Profile") else {
            return (exposed.first ?? "public", exposed.count > 1)
        }
        guard exposed.contains(wanted) else {
            throw RestFailure(
                406, "PGRST106", "Invalid schema: \(wanted)",
                hint: "Only the following schemas are exposed: \(exposed.joined(separator: ", "))")
        }
        return (wanted, true)
    }

    private static func action(_ method: String) throws(RestFailure) -> Action {
        switch method {
        case "GET": .read(isHead: false)
        case "HEAD": .read(isHead: true)
        case "POST": .insert
        case "PUT": .replace
        case "PATCH": .update
        case "DELETE": .delete
        case "OPTIONS": .options
        default: throw RestFailure(405, "PGRST117", "Unsupported HTTP method: \(method)")
        }
    }

    /// Refuses what this backend does not serve. `isWhole` is a read without a page.
    private static func refuseUnserved(
        _ query: RestQuery, allowsAggregates: Bool, isWhole: Bool
    ) throws(RestFailure) {
        for item in query.select {
            switch item {
            case .embed: throw .notServed("embedded resources")
            case .aggregate:
                guard allowsAggregates else {
                    throw RestFailure(400, "PGRST123", "Use of aggregate functions is not allowed")
                }
                guard isWhole, !query.select.contains(.all) else {
                    throw .notServed("aggregate functions beside *, in a page, or in a write's answer")
                }
            case .all, .field: continue
            }
        }
        if let name = query.embeddedName ?? query.order.compactMap(\.relation).first { throw .notEmbedded(name) }
    }

    /// Every column the request names, for the catalogue to know.
    var namedColumns: Set<String> {
        var names: Set<String> = Set(payload?.columns ?? [])
        for case .field(let field, _, _) in query.select { names.insert(field.name) }
        for case .aggregate(_, let field?, _, _, _) in query.select { names.insert(field.name) }
        names.formUnion(query.order.map(\.field.name))
        func collect(_ tree: LogicTree) {
            switch tree {
            case .condition(let condition): names.insert(condition.field.name)
            case .group(_, _, let children): children.forEach(collect)
            }
        }
        query.filters.forEach(collect)
        return names
    }
}
