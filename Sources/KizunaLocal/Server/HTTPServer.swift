internal import CSoup
internal import Foundation

/// What the server hands its requests to. Both calls come on the server's thread and must not block it.
protocol RequestHandling: AnyObject, Sendable {
    /// The head of a request has come; true cuts the connection before the body is read.
    func cutsConnection(method: String, target: String) -> Bool
    /// The whole request has come; the exchange wants exactly one answer, at any time and from any thread.
    func handle(_ request: HTTPRequest, _ exchange: HTTPExchange)
}

/// An HTTP server on 127.0.0.1.
///
/// Safe because `server` is set, used and cleared on the loop's thread only; all else is constant.
final class HTTPServer: @unchecked Sendable {
    private let loop: ServerLoop
    private let handler: any RequestHandling
    private let bodyLimit: Int
    private var server: UnsafeMutablePointer<SoupServer>?

    init(loop: ServerLoop, handler: any RequestHandling, bodyLimit: Int) {
        self.loop = loop
        self.handler = handler
        self.bodyLimit = bodyLimit
    }

    /// Listens; port 0 takes a free one. Returns the port.
    func start(port: Int) async throws -> Int {
        try await withCheckedThrowingContinuation { continuation in
            loop.start { [self] in
                do throws(LocalError) {
                    continuation.resume(returning: try listen(port))
                } catch {
                    loop.stop()
                    continuation.resume(throwing: error)
                }
            }
        }
    }

    /// Closes all connections and ends the thread.
    func stop() async {
        await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
            loop.run { [self] in
                if let server {
                    soup_server_disconnect(server)
                    g_object_unref(server)
                }
                server = nil
                loop.stop()
                continuation.resume()
            }
        }
    }

    private func listen(_ port: Int) throws(LocalError) -> Int {
        guard let server = kizuna_soup_server_new("kizuna") else { throw .cannotListen(reason: "out of memory") }
        var fault: UnsafeMutablePointer<GError>?
        guard soup_server_listen_local(server, guint(port), SOUP_SERVER_LISTEN_IPV4_ONLY, &fault) != 0 else {
            let reason = fault.map { String(cString: $0.pointee.message) } ?? "unknown"
            g_clear_error(&fault)
            g_object_unref(server)
            throw .cannotListen(reason: reason)
        }
        self.server = server
        let me = Unmanaged.passUnretained(self).toOpaque()
        soup_server_add_early_handler(server, nil, { HTTPServer.from($4)?.headArrived($1) }, me, nil)
        soup_server_add_handler(server, nil, { HTTPServer.from($4)?.requestArrived($1) }, me, nil)
        let uris = soup_server_get_uris(server)
        defer { g_slist_free_full(uris) { g_uri_unref(OpaquePointer($0)) } }
        return uris.map { Int(g_uri_get_port(OpaquePointer($0.pointee.data))) } ?? port
    }

    private static func from(_ data: gpointer?) -> HTTPServer? {
        data.map { Unmanaged<HTTPServer>.fromOpaque($0).takeUnretainedValue() }
    }

    // MARK: - On the loop's thread

    private func headArrived(_ message: OpaquePointer?) {
        guard let message else { return }
        let head = SoupRequestHead(message)
        guard !handler.cutsConnection(method: head.method, target: head.target) else {
            // A status keeps libsoup from calling the other handler; the pause keeps it from reading on.
            soup_server_message_set_status(message, 503, nil)
            soup_server_message_pause(message)
            HTTPExchange(message: message, loop: loop).cut()
            return
        }
        let length = soup_message_headers_get_content_length(soup_server_message_get_request_headers(message))
        if length > Int64(bodyLimit) { Self.refuseBody(message) }
        kizuna_object_set_count(UnsafeMutableRawPointer(message), "kizuna-limit", gsize(bodyLimit))
        kizuna_soup_on_got_chunk(
            message,
            { message, chunk, _ in
                guard let message else { return }
                let object = UnsafeMutableRawPointer(message)
                let count = kizuna_object_get_count(object, "kizuna-count") + g_bytes_get_size(chunk)
                kizuna_object_set_count(object, "kizuna-count", count)
                if count > kizuna_object_get_count(object, "kizuna-limit") { HTTPServer.refuseBody(message) }
            }, nil)
    }

    /// Throws away what comes from here on, so that a body without end takes no memory.
    private static func refuseBody(_ message: OpaquePointer) {
        let body = soup_server_message_get_request_body(message)
        soup_message_body_set_accumulate(body, 0)
        soup_message_body_truncate(body)
        kizuna_object_set_count(UnsafeMutableRawPointer(message), "kizuna-refused", 1)
    }

    private func requestArrived(_ message: OpaquePointer?) {
        guard let message else { return }
        let head = SoupRequestHead(message)
        let request = HTTPRequest(
            method: head.method, path: head.path, query: head.query, headers: head.headers,
            body: SoupRequestHead.body(of: message),
            isBodyTooLarge: kizuna_object_get_count(UnsafeMutableRawPointer(message), "kizuna-refused") == 1)
        // libsoup would cut the answer by `Range: bytes=…` on its own; ranges are the handler's business.
        soup_message_headers_remove(soup_server_message_get_request_headers(message), "Range")
        let exchange = HTTPExchange(message: message, loop: loop)
        soup_server_message_pause(message)
        handler.handle(request, exchange)
    }
}
