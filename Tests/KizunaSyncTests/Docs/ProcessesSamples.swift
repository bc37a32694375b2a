import Foundation
import KizunaSync

// The sample of docs/processes.md. `DocSampleTests` checks that each block of the page stands here.

private struct ExtensionSession: Sendable {
    var accessToken: String
}

private enum ProcessesSamples {
    static func share(
        _ client: KizunaSyncClient, projectURL: URL, key: String, sharedContainer: URL, session: ExtensionSession
    ) async throws {
        let folder = sharedContainer.appendingPathComponent("Kizuna")
        try await client.create(.init(url: projectURL, publishableKey: key, dataDirectory: folder))
        try await client.setAccessToken(session.accessToken)
    }
}
