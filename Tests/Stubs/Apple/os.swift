// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

public struct OSLogType: Sendable {
    public static let debug = OSLogType()
    public static let info = OSLogType()
    public static let error = OSLogType()
    public static let fault = OSLogType()
    public static let `default` = OSLogType()
}

public struct OSLogPrivacy: Sendable {
    public static var `public`: OSLogPrivacy { OSLogPrivacy() }
}

public struct OSLogMessage: ExpressibleByStringInterpolation {
    public struct StringInterpolation: StringInterpolationProtocol {
        public init(literalCapacity: Int, interpolationCount: Int) {}
        public mutating func appendLiteral(_ literal: String) {}
        public mutating func appendInterpolation(_ text: @autoclosure @escaping () -> String, privacy: OSLogPrivacy) {}
    }

    public init(stringLiteral value: String) {}
    public init(stringInterpolation: StringInterpolation) {}
}

public struct Logger: Sendable {
    public init(subsystem: String, category: String) {}
    public func log(level: OSLogType, _ message: OSLogMessage) {}
}
