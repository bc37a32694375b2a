import KizunaCore
import KizunaSync
import Testing

/// The outcome of each status with each class of error code (docs/spec/writes.md, Responses and outcomes).
@Suite struct WriteOutcomeTests {
    private static let codes: [String?] = [
        nil, "PGRST301", "PGRST002", "PGRST204", "23502", "23503", "23505", "23514", "42501", "40001", "40P01", "53300",
        "55P03", "57014", "08006", "21000", "XX000", "P0001",
    ]

    private static func expected(_ status: Int, _ code: String?) -> String {
        switch (status, code) {
        case (200...299, _): "delivered"
        case (300...399, _), (407, _), (425, _), (429, _), (511, _): "later"
        case (401, _): "session"
        case (408, _), (502, _), (504, _), (520...524, _), (503, nil): "later, perhaps done"
        case (503, _): "later"
        case (413, _): "too large"
        case (409, "23505"): "duplicate"
        case (409, "23503"): "missing reference"
        case (500...599, "21000"): "rejected"
        case (500, "40001"), (500, "40P01"), (500, "53300"), (500, "55P03"), (500, "57014"): "later"
        case (500, "08006"): "later, perhaps done"
        case (500...599, _), (_, nil): "unsettled"
        default: "rejected"
        }
    }

    private static func word(_ outcome: WriteOutcome) -> String {
        switch outcome {
        case .delivered: "delivered"
        case .unavailable(_, let mayHaveBeenHandled): mayHaveBeenHandled ? "later, perhaps done" : "later"
        case .unsettled: "unsettled"
        case .needsSession: "session"
        case .tooLarge: "too large"
        case .duplicate: "duplicate"
        case .missingReference: "missing reference"
        case .partly, .forbidden, .lookUp: "never judged by a status"
        case .matchedNothing: "matched nothing"
        case .rejected: "rejected"
        }
    }

    @Test func theOutcomeOfEachStatusAndCode() {
        for status in 200..<600 {
            for code in Self.codes {
                let outcome = WriteOutcome.judge(status: status, failure: serverFault(status, code))
                #expect(Self.word(outcome) == Self.expected(status, code), "\(status) \(code ?? "-")")
            }
        }
    }

    @Test func theOutcomeHasRetryAfter() {
        let outcome = WriteOutcome.judge(status: 503, failure: serverFault(503, "PGRST002"), retryAfter: .seconds(7))
        #expect(outcome == .unavailable(retryAfter: .seconds(7), mayHaveBeenHandled: false))
    }
}
