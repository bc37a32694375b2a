internal import KizunaCore

/// Until when the server asked for no requests. Pure.
///
/// The machine waits by a timer; this says how long is left to a caller who asks in between.
struct ServerPause: Sendable, Equatable {
    private var until: MonotonicInstant?

    /// Takes in the outcome of a response at an instant. An accepted mutation ends the pause.
    mutating func follow(_ outcome: WriteOutcome, at now: MonotonicInstant) {
        switch outcome {
        case .delivered: until = nil
        case .unavailable(let asked?, _):
            let end = now + RetryAfter.bounded(asked)
            until = max(until ?? end, end)
        default: break
        }
    }

    mutating func end() { until = nil }

    /// How long the pause lasts from `now`; nil when it is over.
    func remaining(at now: MonotonicInstant) -> Duration? {
        until.flatMap { $0 > now ? $0 - now : nil }
    }
}
