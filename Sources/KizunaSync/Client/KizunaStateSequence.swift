/// A state as it changes: the present one first, then each newer one. A slow reader gets the newest, never a backlog. It
/// can be iterated again.
public struct KizunaStateSequence<Element: Sendable>: AsyncSequence, Sendable {
    /// Begins to follow the state, and says where it is put and how to stop.
    package typealias Start = @Sendable () throws -> (channel: LatestValueChannel<Element>, stop: @Sendable () -> Void)

    private let start: Start

    package init(_ start: @escaping Start) { self.start = start }

    /// Starts following when the first element is asked for.
    public func makeAsyncIterator() -> Iterator { Iterator(start: start) }

    /// Follows the state for one reader. Not to be shared between tasks.
    public final class Iterator: AsyncIteratorProtocol {
        private let start: Start
        private var running: (channel: LatestValueChannel<Element>, stop: @Sendable () -> Void)?

        init(start: @escaping Start) { self.start = start }

        deinit { running?.stop() }

        /// The next state; nil when the client has closed.
        ///
        /// - Throws: `SyncError` when the client is not created or closed, or its store cannot be read;
        ///   `CancellationError` when the calling task is cancelled.
        public func next() async throws -> Element? {
            if running == nil { running = try start() }
            return try await running?.channel.next()
        }
    }
}
