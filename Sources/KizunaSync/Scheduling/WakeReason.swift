extension KizunaSyncScheduler {
    /// Why a run was asked for. The reason never changes what a run does, only how soon it starts.
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
