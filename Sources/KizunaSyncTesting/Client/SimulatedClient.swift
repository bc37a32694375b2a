public import Foundation
public import KizunaCore
public import KizunaSync

extension Simulation {
    /// Creates a client in virtual time, by default with its store in memory. It uses the given transport and the clock
    /// of this simulation; otherwise it behaves as in an app.
    ///
    /// - Parameters:
    ///   - transport: the network.
    ///   - folder: the folder of the store, for tests that open the store of a previous client. Nil keeps the store in
    ///     memory, where it is lost with the client and at each change of user.
    ///   - configure: changes the configuration before the client is created.
    /// - Returns: A created client.
    /// - Throws: The errors of `create(_:)`.
    public func makeClient(
        _ transport: any WireTransport, folder: URL? = nil,
        configure: (inout KizunaSyncConfiguration) -> Void = { _ in }
    ) async throws -> KizunaSyncClient {
        try await makeClient(transport, folder: folder, process: nil, configure: configure)
    }

    /// Creates a client in a simulated process, which may share its folder with other processes of the machine.
    package func makeClient(
        _ transport: any WireTransport, folder: URL?, process: SimulatedProcess?,
        configure: (inout KizunaSyncConfiguration) -> Void = { _ in }
    ) async throws -> KizunaSyncClient {
        var dependencies = Engine.Dependencies()
        var environment = environment
        dependencies.changeSignal = { _ in nil }
        dependencies.transport = transport
        if let process {
            environment.host = process.host
            environment.clock = process.clock
            dependencies.transport = process.network(transport)
            dependencies.changeSignal = { process.signal(of: $0) }
        }
        dependencies.environment = environment
        dependencies.isInMemory = folder == nil
        let client = KizunaSyncClient(dependencies: dependencies)
        guard let url = URL(string: "https://project.example"), let nowhere = URL(string: "file:///nowhere") else {
            preconditionFailure("Simulation: its own URLs are no URLs")
        }
        var configuration = KizunaSyncConfiguration(url: url, publishableKey: "key", dataDirectory: folder ?? nowhere)
        configure(&configuration)
        try await client.create(configuration)
        return client
    }
}
