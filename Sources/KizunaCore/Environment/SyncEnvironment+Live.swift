internal import Foundation

// The one file that reads real clocks, makes real randomness and starts tasks.

extension SyncEnvironment {
    /// The real clock, randomness and pool of this process.
    package static func live(log: any LogSink = SilentLogSink()) -> SyncEnvironment {
        SyncEnvironment(
            clock: LiveClock(), wallClock: { Date() }, random: { UInt64.random(in: .min ... .max) }, log: log,
            host: .live)
    }

    /// Starts work that lives as long as its ticket is not cancelled and it has not ended by itself.
    @discardableResult
    package func spawn(_ operation: @escaping @Sendable () async -> Void) -> TaskTicket {
        let task = Task(executorPreference: taskExecutor) { await operation() }
        return TaskTicket { task.cancel() }
    }
}

extension HostProcess {
    /// This process.
    package static let live = HostProcess(
        number: ProcessInfo.processInfo.processIdentifier, run: UInt64.random(in: .min ... .max),
        isRunning: isRunning, sinceBoot: { .seconds(ProcessInfo.processInfo.systemUptime) })

    private static func isRunning(_ process: Int32) -> Bool {
        // Signal 0 is not sent; a process that may not be signalled runs all the same.
        guard kill(process, 0) == 0 || errno != ESRCH else { return false }
        // One that has ended is there until its parent has asked after it. Where there is no such file, nobody waits long.
        guard let status = try? String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8),
            let name = status.lastIndex(of: ")")
        else { return true }
        return !["Z", "X"].contains(status[name...].dropFirst(2).prefix(1))
    }
}

/// Work in progress that can be called off.
package struct TaskTicket: Sendable {
    private let onCancel: @Sendable () -> Void

    package init(onCancel: @escaping @Sendable () -> Void) { self.onCancel = onCancel }

    package func cancel() { onCancel() }
}

/// The process's continuous clock: it goes on while the device sleeps.
private struct LiveClock: SyncClock {
    private let origin = ContinuousClock.now

    var now: MonotonicInstant { MonotonicInstant(origin.duration(to: .now)) }

    func schedule(after delay: Duration, _ body: @escaping @Sendable () -> Void) -> TimerTicket {
        let task = Task {
            do {
                try await ContinuousClock().sleep(for: delay)
                body()
            } catch {
                // Cancelled: the timer was called off.
            }
        }
        return TimerTicket { task.cancel() }
    }
}
