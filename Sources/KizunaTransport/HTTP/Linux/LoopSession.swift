#if canImport(CSoup)
    internal import CSoup
    internal import Foundation

    /// A libsoup session, created, used and released on GLib's thread.
    // Safe because the pointer is used on GLib's thread only, and by `deinit` when there are no other references.
    final class LoopSession: @unchecked Sendable {
        private var pointer: UnsafeMutablePointer<SoupSession>?

        /// The session, to be used on GLib's thread only.
        func onLoop() -> UnsafeMutablePointer<SoupSession>? {
            if pointer == nil { pointer = Self.make() }
            return pointer
        }

        deinit {
            guard let address = pointer.map({ UInt(bitPattern: $0) }) else { return }
            GLibLoop.shared.perform {
                guard let pointer = UnsafeMutablePointer<SoupSession>(bitPattern: address) else { return }
                soup_session_abort(pointer)
                g_object_unref(UnsafeMutableRawPointer(pointer))
            }
        }

        private static let integerType = GType(6 << 2)  // G_TYPE_INT, a macro Swift does not see
        private static let limits: KeyValuePairs<String, Int32> = ["max-conns": 64, "max-conns-per-host": 8]

        private static func make() -> UnsafeMutablePointer<SoupSession>? {
            let copies = limits.map { strdup($0.key) }
            defer { copies.forEach { free($0) } }
            var names = copies.map { $0.map { UnsafePointer($0) } }
            var values = limits.map { limit in
                var value = GValue()
                g_value_init(&value, integerType)
                g_value_set_int(&value, limit.value)
                return value
            }
            let object = g_object_new_with_properties(
                soup_session_get_type(), UInt32(values.count), &names, &values)
            let session = object.map { UnsafeMutableRawPointer($0).assumingMemoryBound(to: SoupSession.self) }
            // A 401 response with a challenge is passed on like any other.
            if let session { soup_session_remove_feature_by_type(session, soup_auth_manager_get_type()) }
            return session
        }
    }
#endif
