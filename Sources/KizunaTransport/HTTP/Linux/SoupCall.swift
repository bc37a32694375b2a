#if canImport(CSoup)
    internal import CSoup
    internal import KizunaCore

    /// One request of libsoup: sends it, reads the body in pieces, and reports to the exchange.
    ///
    /// *Threads:* all methods except `start()` and `cancel()` run on GLib's thread.
    // Safe because the pointers are used on GLib's thread only, and the exchange has its own lock.
    final class SoupCall: @unchecked Sendable {
        private let exchange: Exchange
        private let session: LoopSession
        private var message: OpaquePointer?
        private var stream: UnsafeMutablePointer<GInputStream>?
        private var timesLeft = 0
        private let cancellable = g_cancellable_new()

        private static let chunk = gsize(64 << 10)

        init(_ exchange: Exchange, _ session: LoopSession) {
            self.exchange = exchange
            self.session = session
        }

        deinit {
            g_object_unref(cancellable)
        }

        func start() {
            GLibLoop.shared.perform { [self] in send() }
        }

        func cancel() {
            GLibLoop.shared.perform { [self] in g_cancellable_cancel(cancellable) }
        }

        // MARK: - On GLib's thread

        private func send() {
            guard let session = session.onLoop(), let message = makeMessage() else {
                return exchange.failed(WireFailure(.unusable, "the URL is not valid"))
            }
            self.message = message
            let itself = Unmanaged.passRetained(self).toOpaque()
            let starting: @convention(c) (OpaquePointer?, gpointer?) -> Void = { _, pointer in
                SoupCall.from(pointer)?.leaves()
            }
            g_signal_connect_data(
                UnsafeMutableRawPointer(message), "starting", unsafeBitCast(starting, to: GCallback.self), itself, nil,
                GConnectFlags(0))
            soup_session_send_async(
                session, message, G_PRIORITY_DEFAULT, cancellable,
                { _, result, pointer in
                    SoupCall.from(pointer)?.headArrived(result)
                }, itself)
        }

        /// Called when the first byte is sent, and again if the connection broke and libsoup sends the request again.
        /// A write is not sent again: the queue has to find out whether it was handled.
        private func leaves() {
            timesLeft += 1
            guard exchange.mayLeave else {
                // Nothing has been sent, unless this is the second call.
                if timesLeft == 1 { exchange.failed(WireFailure(.notSent, "the turn to send has passed")) }
                return g_cancellable_cancel(cancellable)
            }
            exchange.requestLeft()
            guard timesLeft > 1, !["GET", "HEAD"].contains(exchange.request.method) else { return }
            exchange.failed(exchange.failure("the connection ended before an answer"))
            g_cancellable_cancel(cancellable)
        }

        private static func from(_ pointer: gpointer?) -> SoupCall? {
            pointer.map { Unmanaged<SoupCall>.fromOpaque($0).takeUnretainedValue() }
        }

        private func makeMessage() -> OpaquePointer? {
            let uriFlags =
                G_URI_FLAGS_HAS_PASSWORD.rawValue | G_URI_FLAGS_ENCODED_PATH.rawValue
                | G_URI_FLAGS_ENCODED_QUERY.rawValue | G_URI_FLAGS_ENCODED_FRAGMENT.rawValue
                | G_URI_FLAGS_SCHEME_NORMALIZE.rawValue
            guard let uri = g_uri_parse(exchange.request.url, GUriFlags(uriFlags), nil) else { return nil }
            defer { g_uri_unref(uri) }
            guard let message = soup_message_new_from_uri(exchange.request.method, uri) else { return nil }
            // Without "idempotent", each write would open a new connection.
            let flags = SOUP_MESSAGE_NO_REDIRECT.rawValue | SOUP_MESSAGE_DO_NOT_USE_AUTH_CACHE.rawValue
            soup_message_set_flags(message, SoupMessageFlags(flags | SOUP_MESSAGE_IDEMPOTENT.rawValue))
            let headers = soup_message_get_request_headers(message)
            for header in exchange.request.headers { soup_message_headers_append(headers, header.name, header.value) }
            if let body = exchange.request.body {
                let bytes = g_bytes_new(body, gsize(body.count))
                soup_message_set_request_body_from_bytes(message, nil, bytes)
                g_bytes_unref(bytes)
            }
            return message
        }

        private func headArrived(_ result: OpaquePointer?) {
            var error: UnsafeMutablePointer<GError>?
            let session = session.onLoop()
            guard let stream = soup_session_send_finish(session, result, &error), let message else {
                return end(error)
            }
            self.stream = stream
            exchange.headArrived(
                status: Int(soup_message_get_status(message).rawValue), headers: headers(of: message),
                mustBeFramed: soup_message_get_http_version(message) != SOUP_HTTP_2_0)
            readNext()
        }

        private func readNext() {
            g_input_stream_read_bytes_async(
                stream, Self.chunk, G_PRIORITY_DEFAULT, cancellable,
                { _, result, pointer in SoupCall.from(pointer)?.bytesArrived(result) },
                Unmanaged.passUnretained(self).toOpaque())
        }

        private func bytesArrived(_ result: OpaquePointer?) {
            var error: UnsafeMutablePointer<GError>?
            guard let bytes = g_input_stream_read_bytes_finish(stream, result, &error) else { return end(error) }
            defer { g_bytes_unref(bytes) }
            var count: gsize = 0
            let start = g_bytes_get_data(bytes, &count)
            guard count > 0 else {
                exchange.completed()
                return end(nil)
            }
            guard exchange.bytesArrived(UnsafeRawBufferPointer(start: start, count: Int(count))) else {
                return end(nil)
            }
            readNext()
        }

        /// Releases all objects; the last step of a call.
        private func end(_ error: UnsafeMutablePointer<GError>?) {
            if let error {
                exchange.failed(WireFailure(error.pointee, exchange))
                g_error_free(error)
            }
            if let stream { g_object_unref(UnsafeMutableRawPointer(stream)) }
            if let message {
                g_signal_handlers_disconnect_matched(
                    UnsafeMutableRawPointer(message), G_SIGNAL_MATCH_DATA, 0, 0, nil, nil,
                    Unmanaged.passUnretained(self).toOpaque())
                g_object_unref(UnsafeMutableRawPointer(message))
            }
            stream = nil
            message = nil
            Unmanaged.passUnretained(self).release()
        }

        private func headers(of message: OpaquePointer) -> [String: String] {
            var headers: [String: String] = [:]
            withUnsafeMutablePointer(to: &headers) { pointer in
                soup_message_headers_foreach(
                    soup_message_get_response_headers(message),
                    { name, value, pointer in
                        guard let name, let value, let pointer else { return }
                        let key = String(cString: name).lowercased()
                        let text = String(cString: value)
                        let headers = pointer.assumingMemoryBound(to: [String: String].self)
                        headers.pointee[key] = headers.pointee[key].map { "\($0), \(text)" } ?? text
                    }, pointer)
            }
            return headers
        }
    }
#endif
