/// How long to wait after the nth failure in a row. Every wait of this package comes from here.
package struct RetrySchedule: Sendable, Equatable {
    private let waits: [Duration]

    /// The last wait repeats for ever.
    package init(waits: [Duration]) {
        precondition(!waits.isEmpty, "RetrySchedule: no waits")
        self.waits = waits
    }

    /// The wait after `failures` failures in a row (1 is the first).
    package func wait(afterFailure failures: Int) -> Duration {
        waits[min(max(failures, 1), waits.count) - 1]
    }

    /// The schedule of a live read's refresh: 0.3, 0.9, 2.4, 5, 15, then every 60 s (docs/spec/reads.md, Retry
    /// schedule).
    package static let refresh = RetrySchedule(waits: [
        .milliseconds(300), .milliseconds(900), .milliseconds(2400), .seconds(5), .seconds(15), .seconds(60),
    ])

    /// The SDK's own waits between repeats of a GET answered 503 or 520: 1, 2, 4 s, three repeats.
    package static let busyServer: [Duration] = [.seconds(1), .seconds(2), .seconds(4)]

    /// Failures in a row after which a refresh reads stalled (docs/spec/reads.md, Retry schedule).
    package static let failuresUntilStalled = 4
}

extension Duration {
    /// The duration scaled into `[half, full]` by a fraction of `[0, 1)`, so that many devices do not wake at once.
    package func jittered(_ fraction: Double) -> Duration {
        self / 2 + (self / 2) * fraction
    }

    /// The duration in seconds, for logs and wall-clock arithmetic.
    package var seconds: Double {
        let (whole, atto) = components
        return Double(whole) + Double(atto) / 1e18
    }
}
