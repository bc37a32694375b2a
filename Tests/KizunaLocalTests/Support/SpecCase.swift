import Foundation
import KizunaCore

/// One case of the shared file: a request, and what the answer must be.
struct SpecCase {
    let id: String
    let request: RawJSON
    let mutates: Bool
    let requires: [String]
    let followUps: [RawJSON]

    /// The whole file: the fixture and the cases.
    static func load() throws -> (fixture: RawJSON, cases: [SpecCase]) {
        let file = try RawJSON(validating: try fixtureBytes("cases.json"))
        guard let fixture = file.member("fixture"), let list = try file.member("cases")?.arrayElements() else {
            throw JSONFault.wrongKind
        }
        let cases = try list.map { raw in
            SpecCase(
                id: raw.member("id")?.stringValue ?? "", request: raw,
                mutates: raw.member("mutates")?.text == "true",
                requires: try raw.member("requires")?.arrayElements().compactMap(\.stringValue) ?? [],
                followUps: try raw.member("then")?.arrayElements() ?? [])
        }
        return (fixture, cases)
    }

    /// The cases that are not served yet, with the reason.
    static func notServed() throws -> [String: String] {
        let members = try RawJSON(validating: try fixtureBytes("not-served.json")).objectMembers()
        return Dictionary(uniqueKeysWithValues: members.map { ($0.name, $0.value.stringValue ?? "") })
    }

    private static func fixtureBytes(_ name: String) throws -> [UInt8] {
        Array(try Data(contentsOf: Bundle.module.bundleURL.appendingPathComponent("Fixtures/\(name)")))
    }
}
