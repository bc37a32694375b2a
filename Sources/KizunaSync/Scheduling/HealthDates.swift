internal import Foundation
internal import KizunaCore

/// Turns the machine's instants into the wall clock's dates, each once, so that a date does not move while it is shown.
struct HealthDates {
    private var known: [MonotonicInstant: Date] = [:]

    mutating func health(
        _ reading: SchedulerMachine.Reading, now: MonotonicInstant, wallClock: () -> Date
    ) -> KizunaSyncHealth {
        let instants = [
            reading.nextAttempt, reading.attemptStarted, reading.lastSuccess, reading.lastFailureInstant,
        ].compactMap { $0 }
        let present = wallClock()
        let before = known
        known = [:]
        for instant in instants {
            known[instant] = before[instant] ?? present.addingTimeInterval((instant - now).seconds)
        }
        let at = { [known] (instant: MonotonicInstant?) in instant.flatMap { known[$0] } }
        return KizunaSyncHealth(
            phase: reading.phase, consecutiveFailures: reading.consecutiveFailures,
            nextAttemptAt: at(reading.nextAttempt), attemptStartedAt: at(reading.attemptStarted),
            lastSuccessAt: at(reading.lastSuccess),
            lastError: reading.lastFailure.map { failure in
                KizunaSyncHealth.Failure(
                    code: failure.code, message: failure.message, at: at(reading.lastFailureInstant) ?? present)
            }, needsReset: reading.needsReset, needsSession: reading.needsSession, queueDepth: reading.queueDepth)
    }
}
