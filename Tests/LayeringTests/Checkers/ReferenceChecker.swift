/// References to pages of this repository: each names a page that exists, and a heading or anchor that the page has.
///
/// In comments and pages: `docs/….md`, with a heading as `docs/spec/PAGE.md, Heading`, and `decision NNN`. In pages also
/// links relative to the page, with an anchor.
struct ReferenceChecker {
    /// The headings of each page, by path.
    private let headings: [String: [String]]
    private let paths: Set<String>

    init(_ files: [SourceFile]) {
        paths = Set(files.flatMap { file in Self.withFolders(file.path) })
        let pages = files.filter { $0.path.hasSuffix(".md") }
        headings = Dictionary(
            pages.map { page in (page.path, Self.prose(page).compactMap { Self.heading($0.text) }) },
            uniquingKeysWith: { first, _ in first })
    }

    func findings(in file: SourceFile) -> [Finding] {
        if file.isSwift { return CommentBlock.blocks(of: file).flatMap { mentions(in: $0, of: file) } }
        guard file.path.hasSuffix(".md") else { return [] }
        return Self.prose(file).flatMap { mentions(in: $0, of: file) + links(in: $0, of: file) }
    }

    private func mentions(in block: CommentBlock, of file: SourceFile) -> [Finding] {
        var findings: [Finding] = []
        for match in block.text.matches(of: #/(?:^|[^\w/.])(docs/[\w/-]+\.md)/#) {
            let path = String(match.output.1)
            guard let known = headings[path] else {
                findings.append(Finding(path: file.path, line: block.line, message: "no page \(path)"))
                continue
            }
            let rest = block.text[match.range.upperBound...]
            guard path.hasPrefix("docs/spec/"), let named = rest.prefixMatch(of: #/, ([A-Z].*)/#)?.output.1 else {
                continue
            }
            if !known.contains(where: { Self.begins(named, with: $0) }) {
                let message = "no heading in \(path): \(named.prefix(40))"
                findings.append(Finding(path: file.path, line: block.line, message: message))
            }
        }
        for match in block.text.matches(of: #/\b[Dd]ecision (\d{3})\b/#) {
            let prefix = "docs/decisions/\(match.output.1)-"
            guard !paths.contains(where: { $0.hasPrefix(prefix) }) else { continue }
            findings.append(Finding(path: file.path, line: block.line, message: "no decision \(match.output.1)"))
        }
        return findings
    }

    private func links(in block: CommentBlock, of file: SourceFile) -> [Finding] {
        block.text.matches(of: #/\]\(([^)\s]+)\)/#).compactMap { match in
            let parts = match.output.1.split(separator: "#", maxSplits: 1, omittingEmptySubsequences: false)
            guard !match.output.1.contains("://"), !match.output.1.hasPrefix("mailto:") else { return nil }
            let target = parts[0].isEmpty ? file.path : Self.resolved(String(parts[0]), from: file.folders)
            guard paths.contains(target) else {
                return Finding(path: file.path, line: block.line, message: "no page \(target)")
            }
            guard parts.count == 2, let known = headings[target] else { return nil }
            return known.map(Self.anchor).contains(String(parts[1]))
                ? nil : Finding(path: file.path, line: block.line, message: "no anchor \(match.output.1)")
        }
    }

    /// The lines of a page outside its code blocks, each as a block of its own.
    private static func prose(_ page: SourceFile) -> [CommentBlock] {
        var isCode = false
        return page.lines.enumerated().compactMap { index, line in
            if line.hasPrefix("```") { isCode.toggle() }
            return isCode ? nil : CommentBlock(line: index + 1, text: line)
        }
    }

    private static func heading(_ line: String) -> String? {
        line.prefixMatch(of: #/#+ +(.+)/#).map { String($0.output.1) }
    }

    private static func begins(_ text: Substring, with heading: String) -> Bool {
        guard text.hasPrefix(heading) else { return false }
        return text.dropFirst(heading.count).first.map { !$0.isLetter && !$0.isNumber } ?? true
    }

    /// The anchor that a heading has in a rendered page.
    private static func anchor(_ heading: String) -> String {
        heading.lowercased().filter { $0.isLetter || $0.isNumber || $0 == " " || $0 == "-" || $0 == "_" }
            .replacing(" ", with: "-")
    }

    private static func resolved(_ link: String, from folders: [String]) -> String {
        var parts = folders
        for part in link.split(separator: "/") where part != "." {
            if part == ".." { _ = parts.popLast() } else { parts.append(String(part)) }
        }
        return parts.joined(separator: "/")
    }

    private static func withFolders(_ path: String) -> [String] {
        let parts = path.split(separator: "/")
        return (1...max(1, parts.count)).map { parts.prefix($0).joined(separator: "/") }
    }
}
