internal import KizunaCore

/// A failure as the machine needs it, with the error itself for `onError`.
package struct SchedulerFailure: Sendable, Equatable {
    package let code: String?
    package let message: String
    /// How long the server asked to be left alone.
    package let retryAfter: Duration?
    package let error: any Error

    /// Takes the parts out of an error; a message of another module's error is redacted.
    package init(_ error: any Error) {
        self.error = error
        retryAfter = (error as? any KizunaSyncRetryAfter)?.retryAfter
        if let coded = error as? SyncError {
            code = coded.code.rawValue
            message = coded.message
        } else {
            code = nil
            message = RedactedText.redacted(String(describing: error))
        }
    }

    /// Equal when they say the same; the error is not compared.
    package static func == (lhs: Self, rhs: Self) -> Bool {
        lhs.code == rhs.code && lhs.message == rhs.message && lhs.retryAfter == rhs.retryAfter
    }
}

/// An error that knows how long the server asked to be left alone, as its `Retry-After` header said.
///
/// An error thrown by an app's own `sync` closure may conform; polls, local writes and doorbells then wait that long,
/// at most ten minutes.
public protocol KizunaSyncRetryAfter: Error {
    /// The time to wait before the next request; nil where the server did not say.
    var retryAfter: Duration? { get }
}

extension SyncError: KizunaSyncRetryAfter {}
