import Foundation
import Synchronization

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// A server on loopback that writes whatever bytes a test wants, however wrong they are.
final class RawServer: Sendable {
    let port: UInt16
    private let isStopped = Mutex(false)
    private let listener: Int32
    private let ledger = Ledger()

    /// Starts serving; the closure runs on a thread of its own for each connection.
    init(_ serve: @escaping @Sendable (RawConnection) -> Void) throws {
        #if os(Linux)
            let streamType = Int32(SOCK_STREAM.rawValue)
        #else
            let streamType = SOCK_STREAM
        #endif
        let listener = socket(AF_INET, streamType, 0)
        var yes: Int32 = 1
        setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &yes, socklen_t(MemoryLayout<Int32>.size))
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let bound = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { generic in
                bind(listener, generic, length) == 0 && getsockname(listener, generic, &length) == 0
            }
        }
        guard bound, listen(listener, 64) == 0 else { throw RawServerFault() }
        self.listener = listener
        port = UInt16(bigEndian: address.sin_port)
        let accepting = Thread { [listener, ledger] in
            while true {
                let descriptor = accept(listener, nil, nil)
                guard descriptor >= 0 else { return }
                let connection = RawConnection(descriptor, ledger)
                Thread.detachNewThread {
                    serve(connection)
                    connection.close()
                }
            }
        }
        accepting.start()
    }

    deinit { stop() }

    /// Refuses connections from now on. Closed once: the number may be another's file the moment after.
    func stop() {
        let isFirst = isStopped.withLock { isStopped in
            defer { isStopped = true }
            return !isStopped
        }
        guard isFirst else { return }
        _ = shutdown(listener, Int32(SHUT_RDWR))
        _ = Self.closeDescriptor(listener)
    }

    /// The heads of the requests read so far.
    var heads: [String] { ledger.heads.withLock { $0 } }

    var connectionCount: Int { ledger.connectionCount.withLock { $0 } }

    func url(_ path: String = "/", host: String = "127.0.0.1") -> String { "http://\(host):\(port)\(path)" }

    fileprivate static func closeDescriptor(_ descriptor: Int32) -> Int32 { close(descriptor) }
}

struct RawServerFault: Error {}

/// What a server has seen.
private final class Ledger: Sendable {
    let heads = Mutex<[String]>([])
    let connectionCount = Mutex(0)
}

/// One connection of a `RawServer`. Only its own thread uses it.
final class RawConnection: Sendable {
    private let descriptor: Int32
    private let ledger: Ledger
    private let isClosed = Mutex(false)

    fileprivate init(_ descriptor: Int32, _ ledger: Ledger) {
        self.descriptor = descriptor
        self.ledger = ledger
        ledger.connectionCount.withLock { $0 += 1 }
    }

    /// Reads one request and answers its head and body; nil where the client has gone.
    func readRequest() -> (head: String, body: [UInt8])? {
        var received: [UInt8] = []
        let mark = Array("\r\n\r\n".utf8)
        while true {
            if let end = received.firstRange(of: mark) {
                let head = String(decoding: received[..<end.lowerBound], as: UTF8.self)
                var body = Array(received[end.upperBound...])
                let length = Self.contentLength(head)
                if head.lowercased().contains("expect: 100-continue") { write("HTTP/1.1 100 Continue\r\n\r\n") }
                while body.count < length {
                    guard let more = readSome() else { return nil }
                    body += more
                }
                ledger.heads.withLock { $0.append(head) }
                return (head, body)
            }
            guard let more = readSome() else { return nil }
            received += more
        }
    }

    /// Waits until the client closes its side.
    func waitUntilClientCloses() {
        while readSome() != nil {}
    }

    func write(_ text: String) { write(Array(text.utf8)) }

    func write(_ bytes: [UInt8]) {
        #if os(Linux)
            let flags = Int32(MSG_NOSIGNAL)
        #else
            let flags: Int32 = 0
        #endif
        var offset = 0
        while offset < bytes.count {
            let count = bytes.withUnsafeBytes {
                send(descriptor, $0.baseAddress?.advanced(by: offset), $0.count - offset, flags)
            }
            guard count > 0 else { return }
            offset += count
        }
    }

    /// Closes with a reset instead of an orderly end.
    func reset() {
        var hard = linger(l_onoff: 1, l_linger: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &hard, socklen_t(MemoryLayout<linger>.size))
        close()
    }

    func close() {
        let first = isClosed.withLock { isClosed in
            defer { isClosed = true }
            return !isClosed
        }
        if first { _ = RawServer.closeDescriptor(descriptor) }
    }

    private func readSome() -> [UInt8]? {
        var buffer = [UInt8](repeating: 0, count: 65_536)
        let count = recv(descriptor, &buffer, buffer.count, 0)
        return count > 0 ? Array(buffer[..<count]) : nil
    }

    private static func contentLength(_ head: String) -> Int {
        for line in head.split(separator: "\r\n") where line.lowercased().hasPrefix("content-length:") {
            return Int(line.dropFirst("content-length:".count).trimmingCharacters(in: .whitespaces)) ?? 0
        }
        return 0
    }
}
