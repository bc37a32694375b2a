internal import KizunaCore

/// The waits of the scheduler, see docs/spec/scheduling.md, Timer and backoff.
package enum SchedulerWaits {
    /// Polls wait no longer than this after failures, unless the interval itself is longer.
    private static let longestBackoff = Duration.seconds(30)
    private static let firstFloor = Duration.milliseconds(500)
    private static let shortestPathWindow = Duration.seconds(20)
    private static let shortestStallAge = Duration.seconds(30)
    private static let shortestDeadline = Duration.seconds(1)

    /// Within this time all local writes are one wake.
    package static let writeWindow = Duration.milliseconds(250)

    /// The poll interval after so many failures in a row, before jitter.
    package static func pollInterval(_ base: Duration, failures: Int) -> Duration {
        failures > 0 ? min(doubled(base, failures), max(base, longestBackoff)) : base
    }

    /// How long after the last attempt's end a local write or a doorbell has to wait; none after a success.
    package static func floor(failures: Int) -> Duration {
        failures > 0 ? min(doubled(firstFloor, failures), longestBackoff) : .zero
    }

    /// So often within the path window a path that comes back starts a run at once.
    package static let pathWakesAtOnce = 3

    /// The window, which grows while runs fail.
    package static func pathWindow(failures: Int) -> Duration {
        max(shortestPathWindow, floor(failures: failures) * pathWakesAtOnce)
    }

    /// The age at which an attempt is called stalled.
    package static func stallAge(_ chosen: Duration?, pollInterval: Duration) -> Duration {
        chosen ?? max(pollInterval * 2, shortestStallAge)
    }

    /// How long a run may take.
    package static func deadline(_ chosen: Duration) -> Duration { max(chosen, shortestDeadline) }

    /// How long a run in the background waits for the first report of the path.
    package static let firstReport = Duration.seconds(5)

    /// How long the server is left alone when it asked for it.
    package static func retryAfter(_ asked: Duration) -> Duration { RetryAfter.bounded(asked) }

    /// How long after the time that the server named.
    package static func spread(_ pollInterval: Duration, _ fraction: Double) -> Duration {
        min(self.pollInterval(max(pollInterval, .zero), failures: 1), longestBackoff) / 2 * fraction
    }

    private static func doubled(_ base: Duration, _ times: Int) -> Duration {
        guard base < .seconds(86_400) else { return base }
        return base * (1 << min(times, 20))
    }
}
