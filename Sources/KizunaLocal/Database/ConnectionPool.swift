internal import Foundation

/// Connections to one database, each with a thread of its own that takes the oldest waiting job.
final class ConnectionPool: Sendable {
    /// What a job gets: a connection, or why there is none.
    typealias Job = @Sendable (Result<PostgresConnection, PostgresFailure>) -> Void

    private let queue: JobQueue

    /// What is done with each new connection before its first job.
    typealias Preparation = @Sendable (PostgresConnection) throws(PostgresFailure) -> Void

    init(_ address: DatabaseAddress, size: Int, onConnect: Preparation? = nil) {
        let queue = JobQueue(threads: size)
        self.queue = queue
        for _ in 0..<size {
            let thread = Thread { Self.serve(queue, address, onConnect) }
            thread.name = "kizuna-database"
            // Swift's own stack use for deeply nested requests is small; the default of a secondary thread is enough.
            thread.start()
        }
    }

    /// Hands a job to the next free thread; after `close()` the job is told that the connection is gone.
    func submit(_ job: @escaping Job) {
        guard !queue.add(job) else { return }
        job(.failure(PostgresFailure(sqlState: "57P01", message: "the backend has stopped", isConnectionLost: true)))
    }

    /// Runs a job and waits for its value.
    func perform<Value: Sendable>(
        _ body: @escaping @Sendable (PostgresConnection) throws(PostgresFailure) -> Value
    ) async throws -> Value {
        try await withCheckedThrowingContinuation { continuation in
            submit { connection in
                do throws(PostgresFailure) {
                    continuation.resume(returning: try body(connection.get()))
                } catch {
                    continuation.resume(throwing: LocalError.database(error))
                }
            }
        }
    }

    /// Takes no further jobs, does the waiting ones, closes the connections and waits for the threads.
    func close() async {
        await withCheckedContinuation { continuation in
            queue.close { continuation.resume() }
        }
    }

    private static func serve(_ queue: JobQueue, _ address: DatabaseAddress, _ onConnect: Preparation?) {
        var connection: PostgresConnection?
        while let job = queue.next() {
            if connection?.isAlive != true {
                do throws(PostgresFailure) {
                    let fresh = try PostgresConnection(address)
                    try onConnect?(fresh)
                    connection = fresh
                } catch {
                    connection = nil
                    job(.failure(error))
                    continue
                }
            }
            if let connection { job(.success(connection)) }
        }
        connection = nil
        queue.threadEnded()
    }
}

/// The waiting jobs of a pool.
///
/// Safe because every stored value is read and written under `condition` only.
private final class JobQueue: @unchecked Sendable {
    private let condition = NSCondition()
    private var jobs: [ConnectionPool.Job] = []
    private var isClosed = false
    private var runningThreads: Int
    private var onEnd: [@Sendable () -> Void] = []

    init(threads: Int) { runningThreads = threads }

    func add(_ job: @escaping ConnectionPool.Job) -> Bool {
        condition.withLock {
            guard !isClosed else { return false }
            jobs.append(job)
            condition.signal()
            return true
        }
    }

    /// Waits for a job; nil when the queue is closed and empty.
    func next() -> ConnectionPool.Job? {
        condition.withLock {
            while jobs.isEmpty, !isClosed { condition.wait() }
            return jobs.isEmpty ? nil : jobs.removeFirst()
        }
    }

    func close(then onEnd: @escaping @Sendable () -> Void) {
        let isOver = condition.withLock {
            isClosed = true
            condition.broadcast()
            if runningThreads > 0 { self.onEnd.append(onEnd) }
            return runningThreads == 0
        }
        if isOver { onEnd() }
    }

    func threadEnded() {
        let waiting: [@Sendable () -> Void] = condition.withLock {
            runningThreads -= 1
            guard runningThreads == 0 else { return [] }
            defer { onEnd = [] }
            return onEnd
        }
        for notify in waiting { notify() }
    }
}
