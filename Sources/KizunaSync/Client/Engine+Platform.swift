internal import KizunaCore
internal import KizunaTransport

extension Engine {
    /// The platform's own HTTP.
    static func platformTransport() -> (any WireTransport)? { URLSessionTransport() }
}
