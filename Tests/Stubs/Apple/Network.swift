// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation
public import Dispatch

/// The state of the network as an app sees it.
public struct NWPath: Equatable, Sendable {
    public enum Status: Equatable, Hashable, Sendable {
        case satisfied
        case unsatisfied
        case requiresConnection
    }

    public let status: Status
}

/// Watches the path.
public final class NWPathMonitor {
    public init() {}
    public var currentPath: NWPath { NWPath(status: .satisfied) }
    public var pathUpdateHandler: (@Sendable (_ newPath: NWPath) -> Void)? {
        get { nil }
        set {}
    }
    public func start(queue: DispatchQueue) {}
    public func cancel() {}
}
