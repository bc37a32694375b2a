/// The reason why a simulation ended before its body returned.
public enum SimulationFault: Error, Sendable, Equatable, CustomStringConvertible {
    /// Nothing is ready to run and no timer is set, but the body has not returned.
    case stuck(at: Duration)
    /// Jobs and timers at one instant reached the limit of steps.
    case livelock(at: Duration, steps: Int)
    /// The body had not returned when the virtual time reached its limit.
    case timeLimitPassed(at: Duration)

    /// The fault and its likely causes.
    public var description: String {
        switch self {
        case .stuck(let instant):
            """
            The simulation is stuck at \(instant): nothing is ready to run, no timer is set, and the body has not \
            returned. It awaits work that cannot end, or work outside the simulation (a task without the \
            simulation's executor, the main actor, a real timer), or a held request without a response.
            """
        case .livelock(let instant, let steps):
            "The simulation does not get past \(instant): \(steps) steps ran there and more are ready."
        case .timeLimitPassed(let instant):
            "The simulation reached its limit of virtual time, \(instant), before the body returned."
        }
    }
}
