/// `LIKE` and simple regular expressions, where the result of PostgreSQL is certain.
enum PatternMatcher {
    private enum Token: Equatable {
        case many
        case one
        case scalar(Unicode.Scalar)
    }

    /// `LIKE` over code points; nil for a pattern that ends in a single backslash.
    static func like(_ text: String, _ pattern: String) -> Bool? {
        guard let tokens = tokens(pattern) else { return nil }
        let scalars = Array(text.unicodeScalars)
        var at = 0
        var token = 0
        var mark: (token: Int, at: Int)?
        while at < scalars.count {
            if token < tokens.count, tokens[token] == .many {
                mark = (token, at)
                token += 1
            } else if token < tokens.count, tokens[token] == .one || tokens[token] == .scalar(scalars[at]) {
                token += 1
                at += 1
            } else if let last = mark {
                mark = (last.token, last.at + 1)
                token = last.token + 1
                at = last.at + 1
            } else {
                return false
            }
        }
        return tokens[token...].allSatisfy { $0 == .many }
    }

    /// `ILIKE`, decided for ASCII only: the case folding of other letters depends on the database.
    static func ilike(_ text: String, _ pattern: String) -> Bool? {
        guard isASCII(text), isASCII(pattern) else { return nil }
        return like(text.lowercased(), pattern.lowercased())
    }

    /// `~` and `~*` for an expression without special characters except `^` and `$` at its ends.
    static func match(_ text: String, _ expression: String, ignoringCase: Bool) -> Bool? {
        guard isASCII(expression), !ignoringCase || isASCII(text) else { return nil }
        var needle = Array((ignoringCase ? expression.lowercased() : expression).utf8)[...]
        let hay = Array((ignoringCase ? text.lowercased() : text).utf8)
        let isAtStart = needle.first == UInt8(ascii: "^")
        if isAtStart { needle.removeFirst() }
        let isAtEnd = needle.last == UInt8(ascii: "$")
        if isAtEnd { needle.removeLast() }
        let special = Set("\\^$.|?*+()[]{}".utf8)
        guard !needle.isEmpty, !needle.contains(where: { special.contains($0) || $0 < 0x20 }) else { return nil }
        guard needle.count <= hay.count else { return false }
        switch (isAtStart, isAtEnd) {
        case (true, true): return hay.elementsEqual(needle)
        case (true, false): return hay.starts(with: needle)
        case (false, true): return hay.suffix(needle.count).elementsEqual(needle)
        case (false, false):
            return (0...hay.count - needle.count).contains { hay[$0..<$0 + needle.count].elementsEqual(needle) }
        }
    }

    static func isASCII(_ text: String) -> Bool { text.utf8.allSatisfy { $0 < 0x80 } }

    private static func tokens(_ pattern: String) -> [Token]? {
        var tokens: [Token] = []
        var isEscaped = false
        for scalar in pattern.unicodeScalars {
            // The server replaces every star with `%` before PostgreSQL reads the pattern, also an escaped one.
            let seen: Unicode.Scalar = scalar == "*" ? "%" : scalar
            if isEscaped {
                tokens.append(.scalar(seen))
                isEscaped = false
                continue
            }
            switch seen {
            case "\\": isEscaped = true
            case "%": tokens.append(.many)
            case "_": tokens.append(.one)
            default: tokens.append(.scalar(seen))
            }
        }
        return isEscaped ? nil : tokens
    }
}
