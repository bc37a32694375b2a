package import KizunaCore
package import KizunaPostgREST

/// Makes the requests of this package and turns what comes back into rows or errors. Adds the headers that hold the
/// key and the token at the moment of sending; nothing keeps them.
package struct Gateway: Sendable {
    /// The project's URL without a trailing slash.
    package let base: String
    package let publishableKey: String
    package let transport: any WireTransport
    package let environment: SyncEnvironment
    package let timeout: Duration
    /// The waits before a read is repeated whose server said that it is busy.
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

    /// Why a read brought no answer that can be used.
    package struct ReadFailure: Error, Sendable {
        package let error: SyncError
        /// The token the server did not accept.
        package var rejectedToken: String?
    }

    /// Sends a read. A 503 or 520 is repeated after 1, 2 and 4 s; a transport failure is not, so that a dead network is
    /// seen at once (docs/spec/reads.md, Retry schedule).
    ///
    /// Without credentials nothing is sent: an answer to nobody must not pass for a user's. `isWanted` is asked before a
    /// repeat, since the owner may have changed meanwhile.
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

    /// How long to wait before a busy server is asked again; nil where the answer stands. One that asks for a longer time than
    /// such a repeat is ever put off is left alone by whoever asked.
    private func busyWait(_ response: WireResponse, _ repeats: Int) -> Duration? {
        guard response.status == 503 || response.status == 520, repeats < busyWaits.count else { return nil }
        let asked = RetryAfter.duration(response.headers) ?? .zero
        return asked > Self.longestBusyWait ? nil : max(asked, busyWaits[repeats])
    }

    /// The SDK's own cap on such a wait.
    private static let longestBusyWait = Duration.seconds(30)

    /// Sends a write, if it leaves before that moment of the machine's clock, and returns whatever answer came; only the lack of an answer is thrown, as `WireFailure`.
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
                .server, "The server answered the read with an error.", table: table, server: server,
                retryAfter: RetryAfter.duration(response.headers)))
        if response.status == 401, case .token(let token) = credentials { failure.rejectedToken = token }
        return failure
    }
}

extension Gateway: CustomReflectable {
    /// Empty: whatever holds a gateway can be dumped without the key, or a password in the URL.
    package var customMirror: Mirror { Mirror(self, children: []) }
}

extension SyncError {
    /// The lack of an answer as this package's error.
    package init(_ failure: WireFailure, table: String?) {
        switch failure.kind {
        case .notSent, .outcomeUnknown:
            self.init(
                .connectivity, "The server could not be reached (\(failure.reason)); it is tried again.", table: table,
                underlying: failure)
        case .unusable:
            self.init(
                .connectivity, "The request has no usable answer as it is (\(failure.reason)).", table: table,
                underlying: failure)
        }
    }
}

extension SyncEnvironment {
    /// Waits; throws `CancellationError` when the task is cancelled meanwhile.
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
