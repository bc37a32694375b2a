package import KizunaCore

/// The running tasks of one runner, by key. A task that has ended leaves no entry behind, also when it ends before its ticket
/// is stored.
package final class TaskSet<Key: Hashable & Sendable>: Sendable {
    private let environment: SyncEnvironment
    private let tickets = TicketTable<Key>()

    package init(in environment: SyncEnvironment) { self.environment = environment }

    /// The number of tasks that run.
    package var count: Int { tickets.count }

    /// Starts a task; a task that runs under the same key is cancelled. Starts nothing after `close`.
    package func start(_ key: Key, _ body: @escaping @Sendable () async -> Void) {
        tickets.add(key) { remove in
            let ticket = environment.spawn {
                await body()
                _ = remove()
            }
            return { ticket.cancel() }
        }
    }

    package func cancel(_ key: Key) { tickets.cancel(key) }

    /// Cancels all tasks; later calls of `start` start nothing.
    package func close() { tickets.close() }
}
