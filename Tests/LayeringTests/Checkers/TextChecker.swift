/// What no text file of the package holds, whatever its language.
enum TextChecker {
    /// The most lines a file of code may have.
    static let lineLimit = 600

    // Put together from parts, so that this file does not find itself.
    private static let leftover = Pattern(#"\b(TO"# + #"DO|FIX"# + #"ME|XX"# + #"X)\b"#)
    private static let machinePath = Pattern(
        #"(?<![\w.$}])/(wo"# + #"rk|ro"# + #"ot|ho"# + #"me/\w+|Us"# + #"ers/\w+)/"#)
    private static let registry = Pattern(
        #"\b(py"# + #"pi\.org|pythonhosted\.org|registry\.np"# + #"mjs\.org|proxy\.gol"# + #"ang\.org|crat"#
            + #"es\.io|artifac"# + #"tory|ne"# + #"xus\.|ghcr\.io|doc"# + #"ker\.io)"#)

    static func findings(in file: SourceFile) -> [Finding] {
        var findings = leftover.findings(in: file.lines, of: file, "unfinished work belongs into an issue")
        findings += machinePath.findings(in: file.lines, of: file, "a path of somebody's machine")
        findings += registry.findings(in: file.lines, of: file, "the host of a package registry")
        let isCode = file.isSwift || file.folders.first == "scripts" || file.name == "Makefile"
        if isCode, file.lineCount > lineLimit {
            findings.append(
                Finding(path: file.path, line: lineLimit + 1, message: "\(file.lineCount) lines, over \(lineLimit)"))
        }
        return findings
    }
}
