extension KizunaSyncScheduler {
    /// Why a run was asked for. It decides how soon the run starts; and one that was asked for by local writes alone sends
    /// them and does not ask the server for what others changed.
    public enum WakeReason: String, Sendable, CaseIterable {
        /// The timer fired.
        case poll
        /// The app came to the front.
        case foreground
        /// The network path became satisfied.
        case path
        /// A Realtime message arrived, or the app asked.
        case doorbell
        /// The app wrote to the client.
        case localWrite
        /// The scheduler was started.
        case start
        /// The app said that its session changed.
        case session
    }
}
