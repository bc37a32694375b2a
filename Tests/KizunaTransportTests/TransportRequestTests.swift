import Foundation
import KizunaCore
import KizunaTransport
import Testing

@Suite struct TransportRequestTests {
    /// Serves on each connection as many requests as come; the answer follows from the request's first line.
    private func server(_ response: @escaping @Sendable (_ line: String, _ body: [UInt8]) -> String) throws -> RawServer
    {
        try RawServer { connection in
            while let request = connection.readRequest() {
                connection.write(response(request.head.components(upTo: "\r\n"), request.body))
            }
        }
    }

    @Test(arguments: TransportUnderTest.allCases, ["GET", "HEAD", "POST", "PATCH", "PUT", "DELETE"])
    func methodPathQueryAndBodyGoOutAsTheyAre(_ transport: TransportUnderTest, _ method: String) async throws {
        let path = "/rest/v1/tasks?title=eq.a%20b%2Cc&or=(a.eq.1,b.is.null)"
        let server = try server { line, body in
            let text = line + "|" + String(decoding: body, as: UTF8.self)
            return "HTTP/1.1 200 OK\r\nX-Seen: \(text)\r\nContent-Length: 0\r\n\r\n"
        }
        let hasBody = method != "GET" && method != "HEAD"
        let request = WireRequest(
            method: method, url: server.url(path), headers: [WireHeader("Content-Type", "application/json")],
            body: hasBody ? Array("{\"a\":1}".utf8) : nil)
        let response = try await transport.make().send(request)
        #expect(response.headers["x-seen"] == "\(method) \(path) HTTP/1.1|" + (hasBody ? "{\"a\":1}" : ""))
    }

    @Test(arguments: TransportUnderTest.allCases)
    func headersGoOutWithTheirValues(_ transport: TransportUnderTest) async throws {
        let server = try server { _, _ in "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n" }
        let headers = [
            WireHeader("apikey", "key"), WireHeader("Authorization", "Bearer abc"),
            WireHeader("Prefer", "return=minimal"),
            WireHeader("Prefer", "resolution=merge-duplicates"), WireHeader("X-Empty", ""),
            WireHeader("X-Text", "grüße"),
        ]
        _ = try await transport.make().send(WireRequest(method: "GET", url: server.url(), headers: headers))
        let lines = try #require(server.heads.first).split(separator: "\r\n").map { $0.lowercased() }
        #expect(lines.contains("apikey: key"))
        #expect(lines.contains("authorization: bearer abc"))
        let prefer = lines.filter { $0.hasPrefix("prefer:") }.map { $0.dropFirst(8) }.joined(separator: ",")
        #expect(prefer == "return=minimal,resolution=merge-duplicates")
        #expect(lines.contains("x-text: grüße"))
        #expect(!lines.contains { $0.hasPrefix("cookie") })
    }

    @Test(arguments: TransportUnderTest.allCases)
    func aLargeBodyArrivesWhole(_ transport: TransportUnderTest) async throws {
        let server = try server { _, body in "HTTP/1.1 200 OK\r\nX-Count: \(body.count)\r\nContent-Length: 0\r\n\r\n" }
        let body = [UInt8](repeating: 120, count: 3 << 20)
        let response = try await transport.make().send(WireRequest(method: "POST", url: server.url(), body: body))
        #expect(response.headers["x-count"] == "\(body.count)")
    }

    @Test(arguments: TransportUnderTest.allCases)
    func noCookieIsSentBack(_ transport: TransportUnderTest) async throws {
        let server = try server { _, _ in "HTTP/1.1 200 OK\r\nSet-Cookie: a=1; Path=/\r\nContent-Length: 0\r\n\r\n" }
        let made = transport.make()
        for _ in 0..<2 { _ = try await made.send(WireRequest(method: "GET", url: server.url())) }
        #expect(server.heads.count == 2)
        #expect(!server.heads.contains { $0.lowercased().contains("\r\ncookie:") })
    }

    @Test(arguments: TransportUnderTest.allCases)
    func nothingIsAnsweredFromACache(_ transport: TransportUnderTest) async throws {
        let server = try server { _, _ in
            "HTTP/1.1 200 OK\r\nCache-Control: max-age=3600\r\nETag: \"1\"\r\nContent-Length: 2\r\n\r\n[]"
        }
        let made = transport.make()
        for _ in 0..<3 { _ = try await made.send(WireRequest(method: "GET", url: server.url())) }
        #expect(server.heads.count == 3)
    }

    @Test(arguments: TransportUnderTest.allCases, ["GET", "POST", "PATCH"])
    func oneConnectionServesManyRequests(_ transport: TransportUnderTest, _ method: String) async throws {
        let server = try server { _, _ in "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n[]" }
        let made = transport.make()
        let request = WireRequest(method: method, url: server.url(), body: method == "GET" ? nil : [1])
        try await withTaskExecutorPreference(OwnThreads()) {
            for _ in 0..<20 { _ = try await made.send(request) }
        }
        #expect(server.heads.count == 20)
        #expect(server.connectionCount == 1)
    }

    /// Not with `URLSession` on Linux, which waits until the time-out here.
    @Test(arguments: [("GET", "200 2", 3), ("POST", "outcomeUnknown", 2), ("PATCH", "outcomeUnknown", 2)])
    func aConnectionThatDiesUnderAWriteIsNotTriedAgain(_ method: String, _ second: String, _ sent: Int) async throws {
        let server = try RawServer { connection in
            guard connection.readRequest() != nil else { return }
            connection.write("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n[]")
            _ = connection.readRequest()
        }
        let made = TransportUnderTest.platform.make()
        let request = WireRequest(method: method, url: server.url(), body: method == "GET" ? nil : [1])
        let (first, seen) = await withTaskExecutorPreference(OwnThreads()) {
            (await request.outcome(with: made), await request.outcome(with: made))
        }
        #expect(first == "200 2")
        #expect(seen.hasPrefix(second), "\(seen)")
        #expect(server.heads.count == sent)
    }

    @Test(arguments: TransportUnderTest.allCases)
    func aReadFollowsARedirectToTheSameOrigin(_ transport: TransportUnderTest) async throws {
        let server = try server { line, _ in
            line.contains("/old")
                ? "HTTP/1.1 302 Found\r\nLocation: /new\r\nContent-Length: 0\r\n\r\n"
                : "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n[]"
        }
        let request = WireRequest(
            method: "GET", url: server.url("/old"), headers: [WireHeader("Authorization", "Bearer abc")])
        let response = try await transport.make().send(request)
        #expect(response.status == 200)
        #expect(response.body.count == 2)
        #expect(server.heads.map { $0.contains("Bearer abc") } == [true, true])
    }

    @Test(arguments: TransportUnderTest.allCases)
    func aRedirectElsewhereIsTheResponse(_ transport: TransportUnderTest) async throws {
        let other = try server { _, _ in "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n" }
        let target = other.url("/steal")
        let server = try server { _, _ in
            "HTTP/1.1 302 Found\r\nLocation: \(target)\r\nContent-Length: 5\r\n\r\nmoved"
        }
        let response = try await transport.make().send(WireRequest(method: "GET", url: server.url()))
        #expect(response.status == 302)
        #expect(response.headers["location"] == target)
        #expect(other.heads == [])
    }

    @Test(arguments: TransportUnderTest.allCases, [301, 302, 303, 307, 308])
    func aWriteNeverFollowsARedirect(_ transport: TransportUnderTest, _ status: Int) async throws {
        let server = try server { _, _ in
            "HTTP/1.1 \(status) Moved\r\nLocation: /new\r\nContent-Length: 0\r\n\r\n"
        }
        let response = try await transport.make().send(WireRequest(method: "POST", url: server.url(), body: [1]))
        #expect(response.status == status)
        #expect(server.heads.count == 1)
    }

    @Test(arguments: TransportUnderTest.allCases)
    func aRedirectLoopEnds(_ transport: TransportUnderTest) async throws {
        let server = try server { _, _ in "HTTP/1.1 302 Found\r\nLocation: /again\r\nContent-Length: 0\r\n\r\n" }
        let seen = await transport.outcome(WireRequest(method: "GET", url: server.url(), timeout: .seconds(5)))
        #expect(!seen.hasPrefix("200"), "\(seen)")
    }
}

extension String {
    func components(upTo mark: String) -> String {
        range(of: mark).map { String(self[..<$0.lowerBound]) } ?? self
    }
}
