/// This process as others on the machine see it, and what it can learn of them.
package struct HostProcess: Sendable {
    /// The system's number of this process.
    package var number: Int32
    /// Tells this process from a former one that had the same number.
    package var run: UInt64
    /// Whether a process of this number runs, stopped ones included.
    package var isRunning: @Sendable (Int32) -> Bool
    /// The machine's monotonic clock, which all its processes read alike. It begins anew when the machine starts.
    package var sinceBoot: @Sendable () -> Duration

    package init(
        number: Int32, run: UInt64, isRunning: @escaping @Sendable (Int32) -> Bool,
        sinceBoot: @escaping @Sendable () -> Duration
    ) {
        self.number = number
        self.run = run
        self.isRunning = isRunning
        self.sinceBoot = sinceBoot
    }
}
