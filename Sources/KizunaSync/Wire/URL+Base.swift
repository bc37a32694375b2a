package import Foundation

extension URL {
    /// The text of the URL without trailing slashes, so that a path can be appended.
    package var textWithoutTrailingSlash: String {
        var text = absoluteString
        while text.hasSuffix("/") { text.removeLast() }
        return text
    }
}
