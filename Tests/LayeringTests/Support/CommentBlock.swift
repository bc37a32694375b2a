import Foundation

/// Comment lines that follow each other, joined by spaces, so that a reference may be broken over two lines.
struct CommentBlock {
    /// The line of the first one.
    let line: Int
    let text: String

    static func blocks(of file: SourceFile) -> [CommentBlock] {
        var blocks: [CommentBlock] = []
        var isOpen = false
        for (index, line) in file.lines.enumerated() {
            let trimmed = line.trimmingCharacters(in: .whitespaces)
            guard trimmed.hasPrefix("//") else {
                isOpen = false
                if let trailing = trailing(line, code: file.code[index]) {
                    blocks.append(CommentBlock(line: index + 1, text: trailing))
                }
                continue
            }
            let text = trimmed.drop { $0 == "/" }.trimmingCharacters(in: .whitespaces)
            if isOpen, let last = blocks.popLast() {
                blocks.append(CommentBlock(line: last.line, text: last.text + " " + text))
            } else {
                blocks.append(CommentBlock(line: index + 1, text: text))
            }
            isOpen = true
        }
        return blocks
    }

    /// The comment behind code: `CodeText` has blanked it.
    private static func trailing(_ line: String, code: String) -> String? {
        guard let start = line.range(of: "//", options: .backwards) else { return nil }
        let offset = line.utf8.distance(from: line.startIndex, to: start.lowerBound)
        guard code.utf8.dropFirst(offset).allSatisfy({ $0 == UInt8(ascii: " ") }) else { return nil }
        return line[start.upperBound...].trimmingCharacters(in: .whitespaces)
    }
}
