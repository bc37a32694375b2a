package import Foundation

extension URL {
    /// The URL's text, to which a path that begins with a slash can be added.
    package var textWithoutTrailingSlash: String {
        var text = absoluteString
        while text.hasSuffix("/") { text.removeLast() }
        return text
    }
}
