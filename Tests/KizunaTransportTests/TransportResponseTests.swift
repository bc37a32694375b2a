import Foundation
import KizunaCore
import KizunaTransport
import Testing

@Suite struct TransportResponseTests {
    private func response(
        _ transport: TransportUnderTest, _ text: String, method: String = "GET", maximumBodyBytes: Int = 256 << 20
    ) async throws -> WireResponse {
        try await response(transport, Array(text.utf8), method: method, maximumBodyBytes: maximumBodyBytes)
    }

    private func response(
        _ transport: TransportUnderTest, _ bytes: [UInt8], method: String = "GET", maximumBodyBytes: Int = 256 << 20
    ) async throws -> WireResponse {
        let server = try RawServer { connection in
            guard connection.readRequest() != nil else { return }
            connection.write(bytes)
            connection.waitUntilClientCloses()
        }
        let made = transport.make(maximumBodyBytes: maximumBodyBytes)
        return try await made.send(WireRequest(method: method, url: server.url(), timeout: .seconds(20)))
    }

    @Test(arguments: TransportUnderTest.allCases)
    func aBodyOfStatedLengthArrivesWhole(_ transport: TransportUnderTest) async throws {
        let seen = try await response(transport, "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nX-Some: Value\r\n\r\nhello")
        #expect(seen.status == 200)
        #expect(String(decoding: seen.body, as: UTF8.self) == "hello")
        #expect(seen.headers["x-some"] == "Value")
    }

    @Test(arguments: TransportUnderTest.allCases)
    func aChunkedBodyArrivesWhole(_ transport: TransportUnderTest) async throws {
        let seen = try await response(
            transport, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n7\r\n, world\r\n0\r\n\r\n")
        #expect(String(decoding: seen.body, as: UTF8.self) == "hello, world")
    }

    @Test(arguments: TransportUnderTest.allCases)
    func aGzipBodyArrivesDecompressed(_ transport: TransportUnderTest) async throws {
        // `gzip` of twenty times "offline ".
        let packed = try #require(Data(base64Encoded: "H4sIAAAAAAACA8tPS8vJzEtVyB+kNACl25YFoAAAAA=="))
        let head = "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: \(packed.count)\r\n\r\n"
        let seen = try await response(transport, Array(head.utf8) + Array(packed))
        #expect(String(decoding: seen.body, as: UTF8.self) == String(repeating: "offline ", count: 20))
    }

    @Test(arguments: TransportUnderTest.allCases)
    func aGzipBodyCutShortIsNotAnResponse(_ transport: TransportUnderTest) async throws {
        let packed = try #require(Data(base64Encoded: "H4sIAAAAAAACA8tPS8vJzEtVyB+kNACl25YFoAAAAA=="))
        let head = "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: \(packed.count)\r\n\r\n"
        let server = try RawServer { connection in
            guard connection.readRequest() != nil else { return }
            connection.write(Array(head.utf8) + Array(packed.prefix(15)))
        }
        let seen = await transport.outcome(WireRequest(method: "GET", url: server.url()))
        #expect(seen.hasPrefix("outcomeUnknown"), "\(seen)")
    }

    @Test(
        arguments: TransportUnderTest.allCases,
        ["HTTP/1.1 204 No Content\r\n\r\n", "HTTP/1.1 304 Not Modified\r\nContent-Length: 7\r\n\r\n"])
    func anResponseWithoutABodyIsWhole(_ transport: TransportUnderTest, _ text: String) async throws {
        #expect(try await response(transport, text).body == [])
    }

    @Test(arguments: TransportUnderTest.allCases)
    func aHeadAnswerKeepsItsContentLengthAndHasNoBody(_ transport: TransportUnderTest) async throws {
        let seen = try await response(
            transport, "HTTP/1.1 200 OK\r\nContent-Length: 1234\r\nContent-Range: 0-9/57\r\n\r\n", method: "HEAD")
        #expect(seen.body == [])
        #expect(seen.headers["content-length"] == "1234")
        #expect(seen.headers["content-range"] == "0-9/57")
    }

    @Test(arguments: TransportUnderTest.allCases)
    func repeatedHeadersAreJoined(_ transport: TransportUnderTest) async throws {
        let seen = try await response(
            transport, "HTTP/1.1 200 OK\r\nX-A: 1\r\nx-a: 2\r\nX-A: 3\r\nContent-Length: 0\r\n\r\n")
        let values = try #require(seen.headers["x-a"]).split(separator: ",").map { $0.filter { $0 != " " } }
        // `URLSession` on Linux gives them out of order.
        #expect(transport == .urlSession ? values.sorted() == ["1", "2", "3"] : values == ["1", "2", "3"])
    }

    @Test(arguments: TransportUnderTest.allCases, [400, 401, 403, 404, 407, 409, 429, 500, 503])
    func anErrorStatusIsAnResponse(_ transport: TransportUnderTest, _ status: Int) async throws {
        // `URLSession` on Linux cancels the task at a login question, or waits for ever without a delegate's answer.
        guard transport == .platform || status != 401 else { return }
        let seen = try await response(
            transport,
            "HTTP/1.1 \(status) X\r\nWWW-Authenticate: Basic realm=\"x\"\r\nWWW-Authenticate: Bearer\r\nContent-Length: 2\r\n\r\n{}"
        )
        #expect(seen.status == status)
        #expect(seen.body.count == 2)
    }

    @Test(arguments: TransportUnderTest.allCases)
    func anEarlyHintBeforeTheResponseIsSkipped(_ transport: TransportUnderTest) async throws {
        let seen = try await response(
            transport, "HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n[]")
        #expect(seen.status == 200)
        #expect(seen.body.count == 2)
    }

    @Test(arguments: TransportUnderTest.allCases)
    func aBodyOverTheLimitIsUnusableAndNotKept(_ transport: TransportUnderTest) async throws {
        let server = try RawServer { connection in
            guard connection.readRequest() != nil else { return }
            connection.write("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
            let chunk = "10000\r\n" + String(repeating: "x", count: 65_536) + "\r\n"
            for _ in 0..<1000 { connection.write(chunk) }
            connection.waitUntilClientCloses()
        }
        let small = transport.make(maximumBodyBytes: 100_000)
        let seen = await WireRequest(method: "GET", url: server.url()).outcome(with: small)
        #expect(seen == "unusable: the response is larger than 100000 bytes")
    }

    @Test(arguments: TransportUnderTest.allCases)
    func aBodyOfExactlyTheLimitArrives(_ transport: TransportUnderTest) async throws {
        let seen = try await response(
            transport, "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello", maximumBodyBytes: 5)
        #expect(seen.body.count == 5)
    }
}

@Suite struct GigabyteSlowTests {
    /// With the limit an app has.
    @Test func aGigabyteIsRejectedAndNotKept() async throws {
        let server = try RawServer { connection in
            guard connection.readRequest() != nil else { return }
            connection.write("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
            let chunk = "100000\r\n" + String(repeating: "x", count: 1 << 20) + "\r\n"
            for _ in 0..<1024 { connection.write(chunk) }
            connection.waitUntilClientCloses()
        }
        let seen = await WireRequest(method: "GET", url: server.url()).outcome(with: PlatformTransport.http())
        #expect(seen == "unusable: the response is larger than \(256 << 20) bytes")
    }
}
