// swift-format-ignore-file
// The sample below stands as on the page.
// It stands in a function, since the module has a syncScheduler of the first sample's.
// TodoApp/TodoSync.swift (excerpt)
import KizunaSync
import Supabase

func schedulerWithDoorbell() -> KizunaSyncScheduler {
let syncScheduler = KizunaSyncScheduler(
  client: kizunasync,
  realtime: SupabaseRealtimeWakeup(client: supabase),
  realtimeTables: ["todos"],
  refreshSession: {
    guard let session = try? await supabase.auth.session else { return false }
    try? await kizunasync.setAccessToken(session.accessToken)
    return true
  },
  needsReset: { (try? await kizunasync.checkpoint().softBlocked) ?? false }
)
return syncScheduler
}
