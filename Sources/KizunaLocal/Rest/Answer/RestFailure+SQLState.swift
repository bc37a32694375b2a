internal import KizunaCore

extension RestFailure {
    /// PostgreSQL's refusal as PostgREST answers it; `isAnonymous` tells a missing right from a missing sign-in.
    init(_ failure: PostgresFailure, isAnonymous: Bool) {
        if failure.isConnectionLost, !failure.sqlState.hasPrefix("57P") {
            self.init(503, "PGRST000", "Database connection error.", details: failure.message)
        } else if failure.sqlState == "PGRST" {
            self = Self.custom(failure)
        } else {
            self.init(
                Self.status(of: failure, isAnonymous: isAnonymous), failure.sqlState, failure.message,
                details: failure.details, hint: failure.hint)
        }
        if status == 401, headers.isEmpty { headers = [HTTPHeader("WWW-Authenticate", "Bearer")] }
    }

    private static func status(of failure: PostgresFailure, isAnonymous: Bool) -> Int {
        let state = failure.sqlState
        switch state {
        case "23503", "23505": return 409
        case "25006": return 405
        case "21000": return failure.message.hasSuffix("requires a WHERE clause") ? 400 : 500
        case "22023":
            return failure.message.hasPrefix("role") && failure.message.hasSuffix("does not exist") ? 401 : 400
        case "42883", "42P01": return 404
        case "42P17", "53400": return 500
        case "42501": return isAnonymous ? 401 : 403
        case "57P01": return 503
        case "P0001": return 400
        default: break
        }
        if state.hasPrefix("PT"), let status = Int(state.dropFirst(2)), 100...599 ~= status { return status }
        switch state.prefix(2) {
        case "08", "53": return 503
        case "0L", "0P", "28": return 403
        case "09", "25", "2D", "38", "39", "3B", "40", "54", "55", "57", "58", "F0", "HV", "P0", "XX", "PT": return 500
        default: return 400
        }
    }

    /// `RAISE SQLSTATE 'PGRST'`: the function writes the whole answer, as JSON in message and detail.
    private static func custom(_ failure: PostgresFailure) -> RestFailure {
        guard let body = try? RawJSON(validating: Array(failure.message.utf8)),
            let code = body.member("code")?.stringValue, let message = body.member("message")?.stringValue,
            let frame = failure.details.flatMap({ try? RawJSON(validating: Array($0.utf8)) }),
            let status = frame.member("status")?.integerValue
        else {
            return RestFailure(
                500, "PGRST121", "Could not parse JSON in the \"RAISE SQLSTATE 'PGRST'\" error",
                details: failure.message)
        }
        var custom = RestFailure(
            status, code, message, details: body.member("details")?.stringValue, hint: body.member("hint")?.stringValue)
        let headers = (try? frame.member("headers")?.objectMembers()) ?? []
        custom.headers = headers.map { HTTPHeader($0.name, $0.value.scalarText ?? "") }
        return custom
    }
}
