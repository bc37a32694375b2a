import Foundation
import KizunaSync

// The samples of docs/owners.md, in functions that give them their surroundings. `DocSampleTests` checks that each block
// of the page stands here.

private struct AppUser: Sendable {
    var id: String
    var accessToken: String
}

private protocol AppAuthLibrary: Sendable {
    func onChange(_ told: @escaping @Sendable (AppUser?) -> Void)
    func refreshedToken() async throws -> String?
}

private enum OwnersSamples {
    static func handOver(
        _ client: KizunaSyncClient, projectURL: URL, key: String, folder: URL, session: AppUser
    ) async throws {
        try await client.create(.init(url: projectURL, publishableKey: key, dataDirectory: folder))
        try await client.setAccessToken(session.accessToken)
        try await client.signOut()
    }

    static func lightAuth(
        _ client: KizunaSyncClient, projectURL: URL, key: String, folder: URL, store: any KizunaAuthStore,
        email: String, password: String
    ) async throws {
        let auth = KizunaAuth(url: projectURL, publishableKey: key, store: store)
        try await client.create(.init(url: projectURL, publishableKey: key, dataDirectory: folder, session: auth))
        try await auth.signIn(email: email, password: password)
        await auth.signOut()
    }

    struct AppSession: SessionSource {
        let library: any AppAuthLibrary

        func states() -> AsyncStream<SessionState> {
            AsyncStream { continuation in
                continuation.yield(.restoring)
                library.onChange { user in
                    if let user {
                        continuation.yield(.signedIn(userID: user.id, accessToken: user.accessToken))
                    } else {
                        continuation.yield(.signedOut)
                    }
                }
            }
        }

        func freshToken() async throws -> String? { try await library.refreshedToken() }
    }

    static func others(_ client: KizunaSyncClient, userID: String) async throws {
        let waiting = try await client.pendingMutationCount(owner: userID)
        for user in try await client.knownOwners() where user != userID {
            try await client.removeOwner(user)
        }
        print(waiting)
    }

    static func follow(_ client: KizunaSyncClient) async throws {
        let subscription = try await client.on { event in
            switch event {
            case .queueDepth(let depth): print("waiting:", depth)
            case .mutationRejected(let id): print("rejected:", id)
            case .ownerChanged: print("another user's rows now")
            case .resetRequired(let reason): print("blocked:", reason)
            case .localChanged(let tables): print("changed:", tables.sorted())
            case .storeDamaged(let damage): print("saved:", damage.savedWrites, damage.mayHaveLostWrites)
            case .engineReplaced: print("create was called again")
            }
        }
        subscription.cancel()
    }
}
