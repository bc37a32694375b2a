package import KizunaCore
package import KizunaPostgREST

/// Sends reads and writes of one project through the transport.
///
/// Adds the headers with the key and the token when it sends a request, so that no stored request contains them.
package struct Gateway: Sendable {
    /// The project's URL without a trailing slash.
    package let base: String
    package let publishableKey: String
    package let transport: any WireTransport
    package let environment: SyncEnvironment
    package let timeout: Duration
    /// The waits before the repeats of a read that the server responded to with 503 or 520.
    package var busyWaits = RetrySchedule.busyServer

    package init(
        base: String, publishableKey: String, transport: any WireTransport, environment: SyncEnvironment,
        timeout: Duration
    ) {
        self.base = base
        self.publishableKey = publishableKey
        self.transport = transport
        self.environment = environment
        self.timeout = timeout
    }

    /// The error of a read without a usable response.
    package struct ReadFailure: Error, Sendable {
        package let error: SyncError
        /// The token that the server rejected with 401.
        package var rejectedToken: String?
    }

    /// Sends a read. After a 503 or 520 it repeats the read, after 1, 2 and 4 s. It does not repeat a read after a transport
    /// failure, so that the caller sees a lost network at once. See docs/spec/reads.md, Retry schedule.
    ///
    /// Throws `ReadFailure`, and `CancellationError` when the task is cancelled during a wait. Unsettled credentials are a
    /// failure, so that a response for nobody is never stored as a user's. `isWanted` is called before each repeat, because
    /// the owner may have changed during the wait.
    package func read(
        _ request: TableRequest, as credentials: Credentials,
        while isWanted: @Sendable () -> Bool = { true }
    ) async throws -> WireResponse {
        guard credentials.isSettled else { throw Self.unsettled(request) }
        var wire = WireRequest(
            method: request.method, url: base + "/rest/v1" + request.target,
            headers: request.headers + identity(credentials), timeout: timeout)
        var repeats = 0
        while true {
            let response = try await exchange(wire, table: request.table)
            if let wait = busyWait(response, repeats) {
                try await environment.sleep(wait)
                repeats += 1
                guard isWanted() else { throw Self.unsettled(request) }
                wire.headers.removeAll { $0.name == "X-Retry-Count" }
                wire.headers.append(WireHeader("X-Retry-Count", "\(repeats)"))
                continue
            }
            guard (200..<300).contains(response.status) else {
                throw failure(of: response, table: request.table, credentials)
            }
            return response
        }
    }

    /// Returns the wait before the next repeat; nil if the response is final. A `Retry-After` above `longestBusyWait` makes the
    /// response final: the caller waits that long.
    private func busyWait(_ response: WireResponse, _ repeats: Int) -> Duration? {
        guard response.status == 503 || response.status == 520, repeats < busyWaits.count else { return nil }
        let asked = RetryAfter.duration(response.headers) ?? .zero
        return asked > Self.longestBusyWait ? nil : max(asked, busyWaits[repeats])
    }

    /// The same limit as in supabase-swift.
    private static let longestBusyWait = Duration.seconds(30)

    /// Sends a write and returns the response, whatever its status is. After the moment `leavesBefore` of the machine's clock
    /// the write is not sent any more. Throws `WireFailure` if there is no response.
    package func write(
        _ request: WireRequest, as credentials: Credentials, before leavesBefore: Duration? = nil
    ) async throws -> WireResponse {
        var wire = request
        wire.leavesBefore = leavesBefore
        wire.url = base + "/rest/v1" + request.url
        wire.headers += identity(credentials)
        wire.timeout = timeout
        return try await transport.send(wire)
    }

    private static func unsettled(_ request: TableRequest) -> ReadFailure {
        ReadFailure(
            error: SyncError(
                .sessionNotSettled, "There is no token of the store's user; nothing was sent.", table: request.table))
    }

    private func identity(_ credentials: Credentials) -> [WireHeader] {
        let bearer =
            switch credentials {
            case .token(let token): token
            case .anonymous, .unsettled: publishableKey
            }
        return [
            WireHeader("apikey", publishableKey), WireHeader("Authorization", "Bearer \(bearer)"),
            WireHeader("X-Client-Info", "kizunasync-swift/\(KizunaSyncVersion.current)"),
        ]
    }

    private func exchange(_ wire: WireRequest, table: String) async throws -> WireResponse {
        do {
            return try await transport.send(wire)
        } catch let failure as WireFailure {
            throw ReadFailure(error: .init(failure, table: table))
        }
    }

    private func failure(
        of response: WireResponse, table: String, _ credentials: Credentials
    ) -> ReadFailure {
        let server = ServerFailure(status: response.status, body: response.body)
        var failure = ReadFailure(
            error: SyncError(
                .server, "The server responded to the read with an error.", table: table, server: server,
                retryAfter: RetryAfter.duration(response.headers)))
        if response.status == 401, case .token(let token) = credentials { failure.rejectedToken = token }
        return failure
    }
}

extension Gateway: CustomReflectable {
    /// Empty, so that a dump of a value that holds a gateway contains no key and no password of the URL.
    package var customMirror: Mirror { Mirror(self, children: []) }
}

extension SyncError {
    /// Creates the error for a request without a response.
    package init(_ failure: WireFailure, table: String?) {
        switch failure.kind {
        case .notSent, .outcomeUnknown:
            self.init(
                .connectivity, "The server could not be reached (\(failure.reason)); it is tried again.", table: table,
                underlying: failure)
        case .unusable:
            self.init(
                .connectivity, "The request cannot get a usable response (\(failure.reason)).", table: table,
                underlying: failure)
        }
    }
}

extension SyncEnvironment {
    /// Waits for a duration.
    ///
    /// - Throws: `CancellationError` when the task is cancelled during the wait.
    package func sleep(_ delay: Duration) async throws {
        let gate = AsyncGate()
        let ticket = clock.schedule(after: delay) { gate.open() }
        defer { ticket.cancel() }
        try await withTaskCancellationHandler {
            await gate.wait()
            try Task.checkCancellation()
        } onCancel: {
            gate.open()
        }
    }
}
