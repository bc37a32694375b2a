#if canImport(CSoup)
    internal import CSoup
    internal import Foundation
    internal import Synchronization

    /// Watches a notification file and its folder with inotify, and the exit of processes, on GLib's thread.
    final class NotificationFileWatch: Sendable {
        private struct State {
            var notifier: Int32 = -1
            var fileWatch: Int32 = -1
            var sources: [FileSource] = []
            var tell: (@Sendable (NotificationFileEvent) -> Void)?
        }

        private let notificationFile: String
        private let folder: String
        private let state = Mutex(State())

        init(notificationFile: String, folder: String) {
            self.notificationFile = notificationFile
            self.folder = folder
        }

        /// Starts watching; returns false if the system has no watches left.
        func start(_ tell: @escaping @Sendable (NotificationFileEvent) -> Void) -> Bool {
            let notifier = inotify_init1(Int32(IN_NONBLOCK | IN_CLOEXEC))
            guard notifier >= 0 else { return false }
            let fileWatch = inotify_add_watch(notifier, notificationFile, UInt32(IN_MODIFY))
            let folderWatch = inotify_add_watch(
                notifier, folder, UInt32(IN_CREATE) | UInt32(IN_DELETE) | UInt32(IN_MOVED_TO) | UInt32(IN_MOVED_FROM))
            guard fileWatch >= 0, folderWatch >= 0 else {
                close(notifier)
                return false
            }
            let source = FileSource(notifier) { [weak self] in
                self?.read(notifier)
                return true
            }
            state.withLock { state in
                state.notifier = notifier
                state.fileWatch = fileWatch
                state.tell = tell
                state.sources = [source]
            }
            source.attach()
            return true
        }

        /// Watches a process for its exit.
        func follow(_ process: Int32) {
            let file = kizuna_pidfd_open(process)
            guard file >= 0 else { return }
            let source = FileSource(file) { [weak self] in
                self?.state.withLock { $0.tell }?(.end)
                return false
            }
            state.withLock { state in
                state.sources.removeAll { $0.isOver }
                state.sources.append(source)
            }
            source.attach()
        }

        func stop() {
            let sources = state.withLock { state in
                defer { state = State() }
                return state.sources
            }
            for source in sources { source.detach() }
        }

        /// Reads all pending events and reports whether any are of the notification file and of the folder.
        private func read(_ notifier: Int32) {
            var isNotification = false
            var isFolder = false
            let fileWatch = state.withLock { $0.fileWatch }
            withUnsafeTemporaryAllocation(byteCount: 16_384, alignment: 8) { buffer in
                while true {
                    let count = Foundation.read(notifier, buffer.baseAddress, buffer.count)
                    guard count > 0 else { return }
                    var at = 0
                    while at + MemoryLayout<inotify_event>.size <= count {
                        let event = buffer.loadUnaligned(fromByteOffset: at, as: inotify_event.self)
                        if event.wd == fileWatch || event.wd < 0 { isNotification = true }
                        if event.wd != fileWatch { isFolder = true }
                        at += MemoryLayout<inotify_event>.size + Int(event.len)
                    }
                }
            }
            guard let tell = state.withLock({ $0.tell }) else { return }
            if isFolder { tell(.folder) }
            if isNotification { tell(.notify) }
        }
    }

    /// A file descriptor in GLib's loop; it is closed when the source ends.
    // Safe because the source is used on GLib's thread only, the other members are constant.
    private final class FileSource: @unchecked Sendable {
        private let file: Int32
        /// Called on GLib's thread when the file is readable; returning false ends the source.
        private let ready: @Sendable () -> Bool
        private let over = Atomic(false)
        private var source: UnsafeMutablePointer<GSource>?

        init(_ file: Int32, _ ready: @escaping @Sendable () -> Bool) {
            self.file = file
            self.ready = ready
        }

        var isOver: Bool { over.load(ordering: .acquiring) }

        func attach() {
            GLibLoop.shared.perform { [self] in
                let called: @convention(c) (gint, GIOCondition, gpointer?) -> gboolean = { _, _, pointer in
                    guard let pointer else { return 0 }
                    let source = Unmanaged<FileSource>.fromOpaque(pointer).takeUnretainedValue()
                    return !source.isOver && source.ready() ? 1 : 0
                }
                source = g_unix_fd_source_new(file, G_IO_IN)
                g_source_set_callback(
                    source, unsafeBitCast(called, to: GSourceFunc.self), Unmanaged.passRetained(self).toOpaque(),
                    { pointer in
                        guard let pointer else { return }
                        let source = Unmanaged<FileSource>.fromOpaque(pointer)
                        source.takeUnretainedValue().finished()
                        source.release()
                    })
                g_source_attach(source, GLibLoop.shared.context)
                g_source_unref(source)
            }
        }

        func detach() {
            over.store(true, ordering: .releasing)
            GLibLoop.shared.perform { [self] in
                if let source { g_source_destroy(source) }
            }
        }

        private func finished() {
            over.store(true, ordering: .releasing)
            source = nil
            close(file)
        }
    }
#endif
