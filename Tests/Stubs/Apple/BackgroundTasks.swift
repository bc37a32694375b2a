// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation
public import Dispatch
public import Foundation

open class BGTask: NSObject {
    public var identifier: String { "" }
    public var expirationHandler: (() -> Void)? {
        get { nil }
        set {}
    }
    public func setTaskCompleted(success: Bool) {}
}

public final class BGAppRefreshTask: BGTask {}

public final class BGProcessingTask: BGTask {}

open class BGTaskRequest: NSObject {
    public var earliestBeginDate: Date?
}

public final class BGAppRefreshTaskRequest: BGTaskRequest {
    public init(identifier: String) {}
}

public final class BGProcessingTaskRequest: BGTaskRequest {
    public init(identifier: String) {}
    public var requiresNetworkConnectivity = false
    public var requiresExternalPower = false
}

// Safe because it holds nothing.
public final class BGTaskScheduler: NSObject, @unchecked Sendable {
    public static let shared = BGTaskScheduler()
    public func register(
        forTaskWithIdentifier identifier: String, using queue: DispatchQueue?,
        launchHandler: @escaping @Sendable (BGTask) -> Void
    ) -> Bool { true }
    public func submit(_ taskRequest: BGTaskRequest) throws {}
}
