import Foundation

/// An HTTP client on a bare socket: it sends any method as it is, and sees how a connection ends.
struct RawClient: Sendable {
    let port: Int

    struct Answer: Sendable {
        let status: Int
        let headers: [(name: String, value: String)]
        let body: [UInt8]

        var text: String { String(decoding: body, as: UTF8.self) }

        func header(_ name: String) -> String? {
            headers.first { $0.name.lowercased() == name.lowercased() }?.value
        }
    }

    enum Fault: Error, Equatable {
        /// Nobody listens.
        case refused
        /// The connection ended before the answer was whole; so many bytes of the body had come.
        case ended(bodyBytes: Int)
    }

    func send(
        _ method: String, _ target: String, headers: [(String, String)] = [], body: String? = nil
    ) async throws -> Answer {
        var text = "\(method) \(target) HTTP/1.1\r\nHost: 127.0.0.1:\(port)\r\nConnection: close\r\n"
        for (name, value) in headers { text += "\(name): \(value)\r\n" }
        if let body { text += "Content-Length: \(body.utf8.count)\r\n" }
        return try await sendRaw(text + "\r\n" + (body ?? ""), isHead: method == "HEAD")
    }

    /// Sends this text as it is.
    func sendRaw(_ text: String, isHead: Bool = false) async throws -> Answer {
        try await sendRaw(Array(text.utf8), isHead: isHead)
    }

    /// Sends these bytes as they are.
    func sendRaw(_ bytes: [UInt8], isHead: Bool = false) async throws -> Answer {
        try await withCheckedThrowingContinuation { continuation in
            // A thread of its own, so that waiting for a held answer takes none from the tests.
            Thread {
                continuation.resume(with: Result { try exchange(bytes, isHead: isHead) })
            }.start()
        }
    }

    /// A connection with a request on it whose answer nobody waits for.
    struct Abandoned {
        fileprivate let socket: Int32

        /// Goes away.
        func leave() { close(socket) }
    }

    /// Sends a request and does not wait.
    func abandon(_ method: String, _ target: String, body: String = "") throws -> Abandoned {
        let head = "\(method) \(target) HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
        let socket = try connected()
        write(Array((head + "Content-Length: \(body.utf8.count)\r\n\r\n" + body).utf8), to: socket)
        return Abandoned(socket: socket)
    }

    private func exchange(_ request: [UInt8], isHead: Bool) throws -> Answer {
        let socket = try connected()
        defer { close(socket) }
        write(request, to: socket)
        var received: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = recv(socket, &buffer, buffer.count, 0)
            guard count > 0 else { break }
            received += buffer[..<count]
        }
        return try answer(received, isHead: isHead)
    }

    private func connected() throws -> Int32 {
        let socket = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(port).bigEndian
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        let isConnected = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(socket, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
            }
        }
        guard isConnected else {
            close(socket)
            throw Fault.refused
        }
        return socket
    }

    private func write(_ request: [UInt8], to socket: Int32) {
        var sent = 0
        while sent < request.count {
            let count = request[sent...].withUnsafeBytes {
                Foundation.send(socket, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            // The server may answer and close before it has read everything.
            guard count > 0 else { break }
            sent += count
        }
    }

    private func answer(_ bytes: [UInt8], isHead: Bool) throws -> Answer {
        let blank = Array("\r\n\r\n".utf8)
        guard
            let end = bytes.indices.first(where: {
                $0 + 4 <= bytes.count && bytes[$0] == 0x0D && bytes[$0..<($0 + 4)].elementsEqual(blank)
            })
        else { throw Fault.ended(bodyBytes: 0) }
        let lines = String(decoding: bytes[..<end], as: UTF8.self).components(separatedBy: "\r\n")
        let status = lines[0].split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0
        let headers = lines.dropFirst().map { line in
            let halves = line.split(separator: ":", maxSplits: 1)
            return (
                name: String(halves[0]),
                value: halves.count > 1 ? halves[1].trimmingCharacters(in: .whitespaces) : ""
            )
        }
        let answer = Answer(status: status, headers: headers, body: Array(bytes[(end + 4)...]))
        if !isHead, let length = answer.header("Content-Length").flatMap({ Int($0) }), answer.body.count < length {
            throw Fault.ended(bodyBytes: answer.body.count)
        }
        return answer
    }
}
