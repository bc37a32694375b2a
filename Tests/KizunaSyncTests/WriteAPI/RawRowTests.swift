import Foundation
import KizunaCore
import KizunaSync
import KizunaSyncTesting
import Testing

@Suite struct RawRowTests {
    private let row = #"{"id":"0190aaaa-0000-7000-8000-000000000001","big":9007199254740993,"dec":1.50,"text":"😀"}"#

    @Test func aRowGivenAsJSONIsSentAndReadByteForByte() throws {
        try Simulation.run { simulation in
            let transport = ScriptedTransport(simulation) { request in
                .json(request.method == "POST" ? String(decoding: request.body ?? [], as: UTF8.self) : "[\(row)]")
            }
            let client = try await simulation.makeClient(transport)
            let delivered = try await client.from("raw").insert(RawJSON(parsing: row)).delivered()
            #expect(delivered.rows.map(\.text) == [row])
            let body = transport.sent.first { $0.request.method == "POST" }?.request.body ?? []
            #expect(String(decoding: body, as: UTF8.self) == "[\(row)]")
            let read = try await client.from("raw").select(as: [RawJSON].self).execute()
            #expect(read.result?.map(\.text) == [row])
        }
    }

    @Test func nestedIntegersAndDecimalsKeepTheirDigits() throws {
        struct Box: Codable { var inner: RawJSON }
        let json = #"{"inner":{"a":9007199254740993,"b":[true,null,"x",1.25]}}"#
        let box = try JSONDecoder().decode(Box.self, from: Data(json.utf8))
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        #expect(String(decoding: try encoder.encode(box), as: UTF8.self) == json)
    }

    @Test func textThatIsNotJSONIsRejected() {
        for text in ["", "{", "[1,]", "nul", "1 2", "{\"a\"}"] {
            #expect(throws: SyncError.self) { try RawJSON(parsing: text) }
        }
    }
}
