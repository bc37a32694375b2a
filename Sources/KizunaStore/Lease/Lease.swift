package import KizunaCore

/// One opening of a vault by one process: what a lease can belong to.
package struct LeaseHolder: Hashable, Sendable {
    package let process: Int32
    /// Tells a process from a former one that had its number.
    package let run: UInt64
    /// Tells the openings of one process apart.
    package let opening: Int64

    package init(process: Int32, run: UInt64, opening: Int64) {
        self.process = process
        self.run = run
        self.opening = opening
    }
}

/// The right to send the queue of a vault, which one process has at a time and for a short while (decision 012).
///
/// It is no lock: a process that is stopped while it has it loses it when it runs out.
package struct Lease: Sendable, Hashable {
    package static let defaultLength = Duration.seconds(10)

    package var holder: LeaseHolder?
    /// Until when it holds, by the machine's monotonic clock.
    package var end: Duration

    package init(holder: LeaseHolder? = nil, end: Duration = .zero) {
        self.holder = holder
        self.end = end
    }

    /// How the lease stands for one who would have it.
    package enum Status: Sendable, Hashable {
        case free
        case mine
        /// Another one's, for so long.
        case others(Duration)
        /// Another one's that ran out.
        case expired
        /// Another one's whose process has ended.
        case holderDied
        /// From before the machine was started: the clock has begun anew.
        case beforeReboot

        /// Whether it may be taken, or is held already.
        package var isOpen: Bool {
            if case .others = self { false } else { true }
        }
    }

    /// A lease that ends much later than one of this length can is not from this run of the machine's clock.
    /// A lease of one's own is one's own also when it ran out: nobody has taken it meanwhile.
    package func status(
        for candidate: LeaseHolder, at now: Duration, length: Duration, isRunning: (LeaseHolder) -> Bool
    ) -> Status {
        guard let holder else { return .free }
        if holder == candidate { return .mine }
        if end <= now { return .expired }
        if end > now + length * 2 { return .beforeReboot }
        return isRunning(holder) ? .others(end - now) : .holderDied
    }
}

extension HostProcess {
    /// Whether the process of a holder still runs.
    func runs(_ holder: LeaseHolder) -> Bool {
        holder.process == number ? holder.run == run : isRunning(holder.process)
    }
}

/// What a vault needs to share its file with other processes.
package struct StoreSharing: Sendable {
    package var host: HostProcess
    package var leaseLength: Duration
    /// Tells the others, and is told by them; nil where nobody can be told.
    package var signal: (any ChangeSignal)?
    /// Keeps the process from being suspended during a transaction, until what it returns is called: a process that is
    /// suspended with a lock keeps the others out, and iOS ends it.
    package var stayAwake: @Sendable () -> @Sendable () -> Void
    /// The cache keys of the lists that are shown, so that what another process did to them is handed over whole.
    package var shownLists: @Sendable () -> Set<String>

    package init(
        host: HostProcess, leaseLength: Duration = Lease.defaultLength, signal: (any ChangeSignal)? = nil,
        stayAwake: @escaping @Sendable () -> @Sendable () -> Void = { {} },
        shownLists: @escaping @Sendable () -> Set<String> = { [] }
    ) {
        self.host = host
        self.leaseLength = leaseLength
        self.signal = signal
        self.stayAwake = stayAwake
        self.shownLists = shownLists
    }
}
