// swift-format-ignore-file
// The sample below stands as on the page.
// TodoApp/TodoSync.swift (excerpt)
import KizunaSync
import Supabase

let syncScheduler = KizunaSyncScheduler(
  client: kizunasync,
  pollInterval: 15,
  monitorPath: true,
  refreshSession: {
    guard let session = try? await supabase.auth.session else { return false }
    try? await kizunasync.setAccessToken(session.accessToken)
    return true
  },
  onError: { failure in print("sync failed: \(failure)") },
  needsReset: { (try? await kizunasync.checkpoint().softBlocked) ?? false }
)
