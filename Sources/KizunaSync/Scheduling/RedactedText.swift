/// Takes out of a text what must not be shown or logged: tokens, keys, and the queries of URLs.
package enum RedactedText {
    private static let mark = "…"
    /// Longer texts are cut.
    private static let limit = 500

    /// The text without whatever looks like a secret.
    package static func redacted(_ text: String) -> String {
        var output = ""
        var word = ""
        var lastWord = ""
        var hidesNext = false
        func flush() {
            guard !word.isEmpty else { return }
            let isScheme = word.lowercased() == "bearer" || (hidesNext && word.lowercased() == "basic")
            output += hidesNext && !isScheme ? mark : redactedWord(word)
            hidesNext = isScheme
            lastWord = word
            word = ""
        }
        for character in text {
            if character.isWhitespace || "\"'<>()[]{},;".contains(character) {
                flush()
                output.append(character)
            } else if character == ":" || character == "=",
                isSecretName((word.isEmpty ? lastWord : word).lowercased())
            {
                flush()
                hidesNext = true
                output.append(character)
            } else {
                word.append(character)
            }
        }
        flush()
        return output.count > limit ? String(output.prefix(limit)) + mark : output
    }

    private static func isSecretName(_ name: String) -> Bool {
        let names = [
            "authorization", "apikey", "api_key", "access_token", "refresh_token", "token", "password", "secret",
        ]
        return names.contains { name.hasSuffix($0) }
    }

    private static func redactedWord(_ word: String) -> String {
        if let start = word.firstRange(of: "eyJ"), word[start.upperBound...].contains(".") {
            return word[..<start.lowerBound] + mark
        }
        for prefix in ["sb_secret_", "sb_publishable_", "sbp_"] {
            if let start = word.firstRange(of: prefix) { return word[..<start.upperBound] + mark }
        }
        guard word.contains("://") else { return word }
        var text = Substring(word)
        if let query = text.firstIndex(where: { $0 == "?" || $0 == "#" }) { text = text[...query] + mark }
        // Name and password before the host.
        guard let scheme = text.firstRange(of: "://"), let at = text[scheme.upperBound...].firstIndex(of: "@"),
            !text[scheme.upperBound..<at].contains("/")
        else { return String(text) }
        return text[..<scheme.upperBound] + mark + text[at...]
    }
}
