/// Why a simulation ended without its body having returned.
public enum SimulationFault: Error, Sendable, Equatable, CustomStringConvertible {
    /// Nothing is ready to run and no timer is set, but the body has not returned.
    case stuck(at: Duration)
    /// Work at one instant went on for this many steps without an end.
    case livelock(at: Duration, steps: Int)
    /// The body had not returned when the virtual time reached its limit.
    case timeLimitPassed(at: Duration)

    /// What happened, and what to look for.
    public var description: String {
        switch self {
        case .stuck(let instant):
            """
            The simulation is stuck at \(instant): nothing is ready to run, no timer is set, and the body has not \
            returned. It awaits something that nobody will finish, or something outside the simulation (a task \
            without the simulation's executor, the main actor, a real timer, a held request nobody releases).
            """
        case .livelock(let instant, let steps):
            "The simulation does not get past \(instant): \(steps) steps ran there and more are ready."
        case .timeLimitPassed(let instant):
            "The simulation reached its limit of virtual time, \(instant), before the body returned."
        }
    }
}
