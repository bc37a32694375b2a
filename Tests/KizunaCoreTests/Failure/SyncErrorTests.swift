import KizunaCore
import Testing

@Suite struct SyncErrorTests {
    private struct Leaky: Error { let url = "https://x.test/rest/v1/tasks?secret=eq.hunter2" }

    private let error = SyncError(
        .rejected, "The server refused the write.", table: "tasks",
        server: ServerFailure(
            status: 409, code: "23505", message: "duplicate (email)=(a@b.c)", details: "Key hunter2", hint: "hint2"),
        underlying: Leaky())

    @Test func theDescriptionNeverShowsServerTextsOrTheCause() {
        #expect("\(error)" == "refused: The server refused the write. [table tasks] [HTTP 409, code 23505]")
        #expect(error.localizedText == "\(error)")
    }

    @Test func theDescriptionLeavesOutWhatIsNotThere() {
        #expect("\(SyncError(.closed, "The client is closed."))" == "closed: The client is closed.")
        let server = SyncError(.server, "It failed.", server: ServerFailure(status: 502))
        #expect("\(server)" == "server: It failed. [HTTP 502]")
    }

    @Test func theDebugDescriptionShowsEverything() {
        let text = String(reflecting: error)
        for part in ["duplicate (email)=(a@b.c)", "Key hunter2", "hint2", "secret=eq.hunter2"] {
            #expect(text.contains(part))
        }
    }

    @Test(arguments: [
        (SyncError.Code.connectivity, true), (.networkDisabled, true), (.storeBusy, true), (.diskFull, true),
        (.sessionNotSettled, true), (.server, false), (.malformedResponse, false), (.cacheMiss, false),
        (.decoding, false), (.notQueueable, false), (.unfilteredWrite, false),
        (.queueFull, false), (.rejected, false), (.discarded, false), (.closed, false), (.engineUnavailable, false),
        (.invalidConfiguration, false), (.storage, false), (.storeTooNew, false), (.storeCorrupt, false),
        (.unwritableDirectory, false), (SyncError.Code(rawValue: "of a later version"), false),
    ])
    func retryingIsWorthIt(_ code: SyncError.Code, _ isRetryable: Bool) {
        #expect(SyncError(code, "x").isRetryable == isRetryable)
    }

    @Test func aServersErrorIsRetryableWhenTheServerSaysSo() {
        #expect(SyncError(.server, "x", server: ServerFailure(status: 503)).isRetryable)
        #expect(!SyncError(.server, "x", server: ServerFailure(status: 400)).isRetryable)
        #expect(!SyncError(.rejected, "x", server: ServerFailure(status: 503)).isRetryable)
    }

    @Test func equalityLeavesOutTheUnderlyingError() {
        let same = SyncError(.rejected, error.message, table: "tasks", server: error.server)
        #expect(same == error)
        #expect(SyncError(.rejected, error.message, table: "notes", server: error.server) != error)
        #expect(SyncError(.server, error.message, table: "tasks", server: error.server) != error)
    }
}

extension SyncError {
    /// What an app shows when it interpolates an error it knows as `any Error` only.
    fileprivate var localizedText: String {
        let any: any Error = self
        return "\(any)"
    }
}
