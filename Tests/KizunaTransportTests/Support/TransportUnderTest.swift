import KizunaCore
import KizunaTransport

/// The transports this platform can run; each test asks the same of all.
enum TransportUnderTest: String, CaseIterable, Sendable {
    /// The one this platform uses.
    case platform
    /// `URLSession`'s, which is the same one on Apple platforms.
    case urlSession

    func make(maximumBodyBytes: Int = 256 << 20) -> any WireTransport {
        switch self {
        case .platform: PlatformTransport.http(maximumBodyBytes: maximumBodyBytes)
        case .urlSession: URLSessionTransport(maximumBodyBytes: maximumBodyBytes)
        }
    }

    /// What `send` made of a request: status and body size, or the failure.
    func outcome(_ request: WireRequest) async -> String {
        await request.outcome(with: make())
    }
}

extension WireRequest {
    func outcome(with transport: any WireTransport) async -> String {
        do {
            let response = try await transport.send(self)
            return "\(response.status) \(response.body.count)"
        } catch let failure as WireFailure {
            return "\(failure.kind.rawValue): \(failure.reason)"
        } catch {
            return "\(error)"
        }
    }
}
