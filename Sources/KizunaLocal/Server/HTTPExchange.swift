internal import CSoup
internal import Foundation
internal import Synchronization

/// One request that waits for its answer. Exactly the first of the calls below has an effect.
///
/// Safe because the message is held by a reference of its own and touched on the loop's thread
/// only; `isOpen` is guarded by its mutex.
final class HTTPExchange: @unchecked Sendable {
    private let message: OpaquePointer
    private let loop: ServerLoop
    private let isOpen = Mutex(true)

    /// Call on the loop's thread.
    init(message: OpaquePointer, loop: ServerLoop) {
        g_object_ref(UnsafeMutableRawPointer(message))
        self.message = message
        self.loop = loop
    }

    deinit {
        // The last reference may go on any thread; libsoup's objects are taken apart on theirs.
        let address = Int(bitPattern: message)
        loop.run { g_object_unref(UnsafeMutableRawPointer(bitPattern: address)) }
    }

    /// Sends an answer.
    func answer(_ answer: HTTPAnswer) {
        finish { [self] in
            let headers = soup_server_message_get_response_headers(message)
            for header in answer.headers { soup_message_headers_append(headers, header.name, header.value) }
            if !answer.body.isEmpty {
                let bytes = g_bytes_new(answer.body, gsize(answer.body.count))
                soup_message_body_append_bytes(soup_server_message_get_response_body(message), bytes)
                g_bytes_unref(bytes)
            }
            soup_server_message_set_status(message, guint(answer.status), nil)
            soup_server_message_unpause(message)
        }
    }

    /// Closes the connection without an answer.
    func cut() { finish { [self] in RawConnection.steal(from: message)?.write([]) } }

    /// Sends the head of an answer and the first bytes of its body, then closes the connection.
    func answer(_ answer: HTTPAnswer, cutAfter bytes: Int) {
        finish { [self] in
            var text = "HTTP/1.1 \(answer.status) \(String(cString: soup_status_get_phrase(guint(answer.status))))\r\n"
            for header in answer.headers { text += "\(header.name): \(header.value)\r\n" }
            text += "Content-Length: \(answer.body.count)\r\n\r\n"
            RawConnection.steal(from: message)?.write(Array(text.utf8) + answer.body.prefix(max(0, bytes)))
        }
    }

    private func finish(_ body: @escaping @Sendable () -> Void) {
        let isFirst = isOpen.withLock { open in
            defer { open = false }
            return open
        }
        if isFirst { loop.run(body) }
    }
}

/// A connection taken from libsoup, to write anything to it and to close it.
private final class RawConnection {
    private let stream: UnsafeMutablePointer<GIOStream>
    private var content = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: 0)

    private init(_ stream: UnsafeMutablePointer<GIOStream>) { self.stream = stream }

    deinit {
        content.deallocate()
        g_object_unref(stream)
    }

    /// Nil when the client has gone already.
    static func steal(from message: OpaquePointer) -> RawConnection? {
        soup_server_message_steal_connection(message).map { RawConnection($0) }
    }

    /// Writes without blocking the loop, then closes. The object lives until then.
    func write(_ bytes: [UInt8]) {
        guard !bytes.isEmpty else {
            g_io_stream_close(stream, nil, nil)
            return
        }
        content.deallocate()
        content = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: bytes.count)
        _ = content.initialize(from: bytes)
        g_output_stream_write_all_async(
            g_io_stream_get_output_stream(stream), content.baseAddress, gsize(content.count), G_PRIORITY_DEFAULT, nil,
            { _, _, data in
                guard let data else { return }
                let connection = Unmanaged<RawConnection>.fromOpaque(data).takeRetainedValue()
                g_io_stream_close(connection.stream, nil, nil)
            }, Unmanaged.passRetained(self).toOpaque())
    }
}
