// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation
public import Dispatch
public import Foundation

// Dispatch has these on Apple platforms alone. Here they are in Darwin, since Linux has a module Dispatch of its own.

public let O_EVTONLY: Int32 = 0x8000

@discardableResult
public func close(_ file: Int32) -> Int32 { 0 }
public func open(_ path: UnsafePointer<CChar>, _ flags: Int32) -> Int32 { -1 }

public protocol DispatchSourceFileSystemObject: DispatchSourceProtocol {}
public protocol DispatchSourceProcess: DispatchSourceProtocol {}

extension DispatchSource {
    public struct ProcessEvent: OptionSet, RawRepresentable, Sendable {
        public let rawValue: UInt
        public init(rawValue: UInt) { self.rawValue = rawValue }
        public static let exit = ProcessEvent(rawValue: 0x8000_0000)
    }

    public class func makeFileSystemObjectSource(
        fileDescriptor: Int32, eventMask: FileSystemEvent, queue: DispatchQueue? = nil
    ) -> any DispatchSourceFileSystemObject { preconditionFailure() }

    public class func makeProcessSource(
        identifier: pid_t, eventMask: ProcessEvent, queue: DispatchQueue? = nil
    ) -> any DispatchSourceProcess { preconditionFailure() }
}

public typealias pid_t = Int32

// Foundation's, on Apple platforms but macOS. Here it is in Darwin, since Linux has a Foundation of its own.
extension ProcessInfo {
    public func performExpiringActivity(withReason reason: String, using block: @escaping @Sendable (Bool) -> Void) {}
}
