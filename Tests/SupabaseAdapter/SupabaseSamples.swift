import Foundation
import KizunaSync
import Supabase

// The samples of the docs that need the trait SupabaseSwift; compiled by scripts/check-supabase.

func samples(
    client: KizunaSyncClient, supabase: SupabaseClient, projectURL: URL, key: String, folder: URL, email: String,
    password: String
) async throws {
    let session = SupabaseSession(client: supabase)
    try await client.create(.init(url: projectURL, publishableKey: key, dataDirectory: folder, session: session))
    try await supabase.auth.signIn(email: email, password: password)
    try await session.signOut()
}

func samples(kizunasync: KizunaSyncClient, supabase: SupabaseClient) {
    let scheduler = KizunaSyncScheduler(
        client: kizunasync, realtime: SupabaseRealtimeWakeup(client: supabase), realtimeTables: ["todos"],
        refreshSession: { (try? await supabase.auth.session) != nil })
    scheduler.start()
}
