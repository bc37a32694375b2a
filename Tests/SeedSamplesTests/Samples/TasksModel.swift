// swift-format-ignore-file
// The sample below stands as on the page.
import KizunaSync
import Observation

@MainActor @Observable
final class TasksModel {
    var rows: [TaskRow]?
    var pendingIDs: Set<String> = []
    var refresh: RefreshState = .idle
    let repository: TaskRepository
    let failures: Failures

    init(repository: TaskRepository, failures: Failures) {
        self.repository = repository
        self.failures = failures
    }

    func untilWorthReadingAgain() async { await Task.yield() }

/// Follows every task of the signed-in user, the list the other screens share, until the
/// calling task is canceled. Before there is a user it asks nothing: the schema refuses every
/// request without one.
func observeTasks() async {
    rows = nil
    guard repository.session.userID != nil else { return }
    while !Task.isCancelled {
        do {
            for try await snapshot in repository.taskSnapshots() {
                rows = snapshot.result
            }
            return
        } catch is CancellationError {
            return
        } catch {
            // The shown list reports a failure; both read the same rows. Read again when it is
            // worth it, so the list does not stop.
            await untilWorthReadingAgain()
        }
    }
}

/// How the task list reads, as Settings → Prefer fresh data says: the device's rows at once,
/// refreshed from the server alongside (the default), or the server's answer first, the
/// device's rows only when the server cannot be reached.
static func readStrategy(prefersFreshData: Bool) -> SequenceReadStrategy {
    prefersFreshData ? .networkFirstThenCache : .cacheFirstThenNetwork
}

/// Follows which tasks have a write waiting in the mutation queue.
func observePendingTasks() async {
    do {
        for try await mutations in repository.pendingMutations(table: Tables.tasks) {
            pendingIDs = Set(mutations.flatMap(\.rowIDs))
        }
    } catch is CancellationError {
        return
    } catch {
        failures.report(error)
    }
}
}
