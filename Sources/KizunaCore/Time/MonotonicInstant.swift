/// A point on the process's monotonic clock, in time since the clock's origin. Never comparable with a wall clock.
package struct MonotonicInstant: Hashable, Comparable, Sendable {
    package var sinceOrigin: Duration

    package init(_ sinceOrigin: Duration) { self.sinceOrigin = sinceOrigin }

    package static let zero = MonotonicInstant(.zero)

    package static func < (lhs: Self, rhs: Self) -> Bool { lhs.sinceOrigin < rhs.sinceOrigin }
    package static func + (lhs: Self, rhs: Duration) -> Self { Self(lhs.sinceOrigin + rhs) }
    package static func - (lhs: Self, rhs: Self) -> Duration { lhs.sinceOrigin - rhs.sinceOrigin }
}
