public import Foundation
internal import KizunaCore
public import KizunaSync
internal import Synchronization

/// A device in virtual time, whose store survives when its apps are killed.
///
/// ```swift
/// let phone = try SimulatedDevice(simulation)
/// phone.network.serve(server)
/// let app = try await phone.startApp()
/// try await app.client.from("tasks").insert(["title": "one"])
/// app.kill()
/// let restarted = try await phone.startApp()      // sends the write that the first app queued
/// ```
///
/// Each call of `startApp(_:)` is a process. Several running processes share the store, as an app and its extension do.
public final class SimulatedDevice: Sendable {
    /// A process on the device, with its client.
    public struct App: Sendable {
        /// The client of this process.
        public let client: KizunaSyncClient
        private let process: SimulatedProcess

        init(client: KizunaSyncClient, process: SimulatedProcess) {
            self.client = client
            self.process = process
        }

        /// Kills the process as SIGKILL does: its timers do not fire, and its requests get no response. Jobs that are
        /// ready at this instant still run.
        public func kill() { process.kill() }

        /// Suspends the process; its timers and responses wait until `resume()`.
        public func suspend() { process.stop() }

        /// Resumes a suspended process.
        public func resume() { process.resume() }
    }

    /// The network of all processes on the device.
    public let network: ScriptedTransport
    /// The session of all processes on the device; by default nobody is signed in.
    public let session: FakeSession
    /// The folder of the store.
    public let folder: URL

    private let simulation: Simulation
    private let host: SimulatedHost

    /// Creates a device whose store is in a temporary folder. The folder is removed with the device.
    ///
    /// - Throws: The error of the file system if the folder cannot be created.
    public init(_ simulation: Simulation, session: SessionState = .signedOut) throws {
        self.simulation = simulation
        self.session = FakeSession(session)
        network = ScriptedTransport(simulation)
        host = SimulatedHost(simulation)
        folder = FileManager.default.temporaryDirectory.appendingPathComponent("kizuna-device-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    deinit {
        do {
            try FileManager.default.removeItem(at: folder)
        } catch {
            simulation.log.log(LogLine(.warning, "Removing the folder of a simulated device failed"))
        }
    }

    /// Starts a process with a client on the store of this device.
    ///
    /// - Parameter configure: changes the configuration before the client is created.
    /// - Returns: The running process.
    /// - Throws: The errors of `create(_:)`.
    public func startApp(_ configure: (inout KizunaSyncConfiguration) -> Void = { _ in }) async throws -> App {
        let process = host.process()
        let client = try await simulation.makeClient(network, folder: folder, process: process) { configuration in
            configuration.session = session
            configure(&configuration)
        }
        return App(client: client, process: process)
    }
}
