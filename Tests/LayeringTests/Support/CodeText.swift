/// Splits Swift into code and the rest, far enough for the checkers.
struct CodeText {
    private let bytes: [UInt8]
    private var at = 0
    private var output: [UInt8] = []

    /// The lines of the text, with comments and the contents of string literals blanked out; what is interpolated into
    /// a literal goes with it.
    static func blankingCommentsAndStrings(_ text: String) -> [String] {
        var scanner = CodeText(text)
        scanner.scan()
        return String(decoding: scanner.output, as: UTF8.self)
            .split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    }

    private init(_ text: String) {
        bytes = Array(text.utf8)
        output.reserveCapacity(bytes.count)
    }

    private mutating func scan() {
        while at < bytes.count {
            if starts(with: "//") {
                while at < bytes.count, bytes[at] != UInt8(ascii: "\n") { blank() }
            } else if starts(with: "/*") {
                skipBlockComment()
            } else if bytes[at] == UInt8(ascii: "\"") || bytes[at] == UInt8(ascii: "#"), let hashes = literalStart() {
                skipLiteral(hashes: hashes)
            } else {
                keep()
            }
        }
    }

    /// The number of hash signs before a quote that stands here, nil where none does.
    private func literalStart() -> Int? {
        var end = at
        while end < bytes.count, bytes[end] == UInt8(ascii: "#") { end += 1 }
        return end < bytes.count && bytes[end] == UInt8(ascii: "\"") ? end - at : nil
    }

    private mutating func skipBlockComment() {
        var depth = 0
        repeat {
            if starts(with: "/*") {
                depth += 1
                blank(2)
            } else if starts(with: "*/") {
                depth -= 1
                blank(2)
            } else {
                blank()
            }
        } while depth > 0 && at < bytes.count
    }

    private mutating func skipLiteral(hashes: Int) {
        let marks = String(repeating: "#", count: hashes)
        for _ in 0..<hashes { keep() }
        let quote = starts(with: "\"\"\"") ? "\"\"\"" : "\""
        for _ in quote.utf8 { keep() }
        while at < bytes.count, !starts(with: quote + marks) {
            if starts(with: "\\" + marks + "(") {
                skipInterpolation(opening: 2 + hashes)
            } else if starts(with: "\\" + marks) {
                blank(2 + hashes)
            } else if quote.utf8.count == 1, bytes[at] == UInt8(ascii: "\n") {
                return
            } else {
                blank()
            }
        }
        for _ in (quote + marks).utf8 where at < bytes.count { keep() }
    }

    private mutating func skipInterpolation(opening: Int) {
        blank(opening)
        var depth = 1
        while at < bytes.count, depth > 0 {
            if let hashes = literalStart() {
                let start = output.count
                skipLiteral(hashes: hashes)
                for index in start..<output.count where output[index] != UInt8(ascii: "\n") {
                    output[index] = UInt8(ascii: " ")
                }
                continue
            }
            if bytes[at] == UInt8(ascii: "(") { depth += 1 }
            if bytes[at] == UInt8(ascii: ")") { depth -= 1 }
            blank()
        }
    }

    private func starts(with text: String) -> Bool {
        var index = at
        for byte in text.utf8 {
            guard index < bytes.count, bytes[index] == byte else { return false }
            index += 1
        }
        return true
    }

    private mutating func keep() {
        output.append(bytes[at])
        at += 1
    }

    private mutating func blank(_ count: Int = 1) {
        for _ in 0..<count where at < bytes.count {
            output.append(bytes[at] == UInt8(ascii: "\n") ? bytes[at] : UInt8(ascii: " "))
            at += 1
        }
    }
}
