internal import KizunaCore

/// Reads comma-separated values: the first line names the columns, `NULL` is null.
enum CSVText {
    static func rows(_ text: String) throws(RestFailure) -> [RawJSON] {
        let lines = lines(text)
        guard let names = lines.first, !names.isEmpty else { throw .badBody("not enough input") }
        var rows: [RawJSON] = []
        for line in lines.dropFirst() {
            guard line.count == names.count else { throw .badBody("All lines must have same number of fields") }
            let members = zip(names, line).map { name, value in
                RawJSON.Member(name: name, value: value == "NULL" ? .null : .string(value))
            }
            rows.append(RawJSON(members: members))
        }
        return rows
    }

    private static func lines(_ text: String) -> [[String]] {
        var lines: [[String]] = []
        var line: [String] = []
        var field = ""
        var isQuoted = false
        var hasContent = false
        let scalars = Array(text.unicodeScalars)
        var index = 0
        func endLine() {
            if hasContent { lines.append(line + [field]) }
            line = []
            field = ""
            hasContent = false
        }
        while index < scalars.count {
            let scalar = scalars[index]
            index += 1
            if isQuoted {
                if scalar != "\"" {
                    field.unicodeScalars.append(scalar)
                } else if index < scalars.count, scalars[index] == "\"" {
                    field += "\""
                    index += 1
                } else {
                    isQuoted = false
                }
                continue
            }
            switch scalar {
            case "\n": endLine()
            case "\r": continue
            case ",":
                line.append(field)
                field = ""
                hasContent = true
            case "\"":
                isQuoted = true
                hasContent = true
            default:
                field.unicodeScalars.append(scalar)
                hasContent = true
            }
        }
        endLine()
        return lines
    }
}
