import Dispatch

/// Runs a test's work on threads of its own. The process's pool may be busy with other tests for longer than a connection
/// is kept between two requests.
final class OwnThreads: TaskExecutor {
    private let queue = DispatchQueue(label: "kizuna.test.own-threads", attributes: .concurrent)

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
}
