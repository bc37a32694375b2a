import Foundation

/// A regular expression that is looked for line by line.
struct Pattern {
    private let expression: NSRegularExpression?
    let source: String

    init(_ source: String) {
        self.source = source
        expression = try? NSRegularExpression(pattern: source)
    }

    func matches(_ line: String) -> Bool {
        guard let expression else { return true }
        return expression.firstMatch(in: line, range: NSRange(line.startIndex..., in: line)) != nil
    }

    /// The first capture of the first match.
    func capture(in line: String) -> String? {
        let match = expression?.firstMatch(in: line, range: NSRange(line.startIndex..., in: line))
        guard let match, match.numberOfRanges > 1, let range = Range(match.range(at: 1), in: line) else { return nil }
        return String(line[range])
    }

    /// One finding for each line of this text that matches.
    func findings(in lines: [String], of file: SourceFile, _ message: String) -> [Finding] {
        lines.enumerated().compactMap { index, line in
            matches(line) ? Finding(path: file.path, line: index + 1, message: message) : nil
        }
    }
}
