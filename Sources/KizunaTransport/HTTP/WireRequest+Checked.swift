internal import Foundation
internal import KizunaCore

extension WireRequest {
    /// Checks method, headers and URL, and returns the URL.
    ///
    /// Text that could end a line of HTTP (a carriage return in a header value or in the URL) is rejected here, not by
    /// the platform.
    func checkedURL() throws(WireFailure) -> URL {
        guard !method.isEmpty, method.utf8.allSatisfy(Self.isTokenByte) else {
            throw WireFailure(.unusable, "the method is no HTTP token")
        }
        for header in headers {
            guard !header.name.isEmpty, header.name.utf8.allSatisfy(Self.isTokenByte) else {
                throw WireFailure(.unusable, "a header's name is no HTTP token")
            }
            guard header.value.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 }) else {
                throw WireFailure(.unusable, "a header's value holds a control character")
            }
        }
        guard url.isVisibleASCII, let parsed = URL(string: url, encodingInvalidCharacters: false)
        else { throw WireFailure(.unusable, "the URL is not valid") }
        guard let scheme = parsed.scheme?.lowercased(), scheme == "http" || scheme == "https" else {
            throw WireFailure(.unusable, "the URL's scheme is not http or https")
        }
        guard let host = parsed.host(), !host.isEmpty else { throw WireFailure(.unusable, "the URL names no host") }
        guard parsed.port.map({ (1...65_535).contains($0) }) ?? true else {
            throw WireFailure(.unusable, "the URL's port is not valid")
        }
        return parsed
    }

    private static func isTokenByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: "!#$%&'*+-.^_`|~".utf8.contains(byte)
        }
    }
}
