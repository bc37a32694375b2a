#if canImport(Darwin)
    internal import Darwin
    internal import Dispatch
    internal import Synchronization

    /// Watches a notification file and its folder, and the exit of processes, with dispatch sources.
    final class NotificationFileWatch: Sendable {
        private let notificationFile: String
        private let folder: String
        private let queue = DispatchQueue(label: "kizuna.door")
        private let armed = Mutex<[ArmedSource]>([])
        private let listener = Mutex<(@Sendable (NotificationFileEvent) -> Void)?>(nil)

        init(notificationFile: String, folder: String) {
            self.notificationFile = notificationFile
            self.folder = folder
        }

        /// Starts watching; returns false if the files cannot be opened.
        func start(_ tell: @escaping @Sendable (NotificationFileEvent) -> Void) -> Bool {
            listener.withLock { $0 = tell }
            return watch(notificationFile, .notify) && watch(folder, .folder)
        }

        /// Watches a process for its exit.
        func follow(_ process: Int32) {
            let source = DispatchSource.makeProcessSource(identifier: process, eventMask: .exit, queue: queue)
            source.setEventHandler { [weak self] in self?.tell(.end) }
            keep(ArmedSource(source))
        }

        func stop() {
            listener.withLock { $0 = nil }
            let sources = armed.withLock { armed in
                defer { armed = [] }
                return armed
            }
            for each in sources { each.source.cancel() }
        }

        private func watch(_ path: String, _ news: NotificationFileEvent) -> Bool {
            let file = open(path, O_EVTONLY)
            guard file >= 0 else { return false }
            let source = DispatchSource.makeFileSystemObjectSource(
                fileDescriptor: file, eventMask: [.write, .extend], queue: queue)
            source.setEventHandler { [weak self] in self?.tell(news) }
            source.setCancelHandler { close(file) }
            keep(ArmedSource(source))
            return true
        }

        private func keep(_ source: ArmedSource) {
            armed.withLock { $0.append(source) }
            source.source.activate()
        }

        private func tell(_ news: NotificationFileEvent) { listener.withLock { $0 }?(news) }
    }

    /// A dispatch source.
    // Safe because it is configured before it is activated, and any thread may cancel it.
    private final class ArmedSource: @unchecked Sendable {
        let source: any DispatchSourceProtocol

        init(_ source: any DispatchSourceProtocol) { self.source = source }
    }
#endif
