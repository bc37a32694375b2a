internal import Synchronization

/// A position in the process-wide order of requests and cache changes (docs/spec/reads.md, Order of responses and
/// changes).
///
/// A request takes a tick before it goes out; a change of a table's cached rows moves the table's mark to a later
/// tick. An answer whose tick is not later than the mark cannot hold that change.
package struct LogicalTime: Hashable, Comparable, Sendable {
    package let value: UInt64

    package init(_ value: UInt64) { self.value = value }

    package static let zero = LogicalTime(0)
    package static func < (lhs: Self, rhs: Self) -> Bool { lhs.value < rhs.value }
}

/// Gives out ticks, each later than all before it.
package final class LogicalClock: Sendable {
    private let last = Atomic<UInt64>(0)

    package init() {}

    package func next() -> LogicalTime {
        LogicalTime(last.add(1, ordering: .sequentiallyConsistent).newValue)
    }
}
