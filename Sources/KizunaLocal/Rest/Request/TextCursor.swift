/// Reads a text of the request language from left to right.
struct TextCursor {
    /// Why reading stopped: where (from 1), at what, and what would have been right.
    struct Fault: Error, Equatable {
        let position: Int
        let details: String
    }

    private let scalars: [Unicode.Scalar]
    private(set) var index = 0

    init(_ text: String) { scalars = Array(text.unicodeScalars) }

    var isAtEnd: Bool { index >= scalars.count }

    var next: Unicode.Scalar? { index < scalars.count ? scalars[index] : nil }

    /// What stands here, and whether it is the given text.
    func isAt(_ text: String) -> Bool {
        let wanted = Array(text.unicodeScalars)
        return index + wanted.count <= scalars.count && scalars[index..<(index + wanted.count)].elementsEqual(wanted)
    }

    /// Takes the text if it stands here.
    mutating func take(_ text: String) -> Bool {
        guard isAt(text) else { return false }
        index += text.unicodeScalars.count
        return true
    }

    mutating func expect(_ text: String) throws(Fault) {
        guard take(text) else { throw fault(expecting: "\"\(text)\"") }
    }

    /// Takes one scalar of any kind.
    mutating func takeAny() throws(Fault) -> Unicode.Scalar {
        guard let scalar = next else { throw fault(expecting: "a character") }
        index += 1
        return scalar
    }

    mutating func take(while isWanted: (Unicode.Scalar) -> Bool) -> String {
        let start = index
        while let scalar = next, isWanted(scalar) { index += 1 }
        return text(from: start)
    }

    mutating func skipBlanks() { _ = take { $0 == " " || $0 == "\t" } }

    /// Takes everything up to the end.
    mutating func takeRest() -> String { take { _ in true } }

    func text(from start: Int) -> String {
        var text = ""
        text.unicodeScalars.append(contentsOf: scalars[start..<index])
        return text
    }

    func fault(expecting: String) -> Fault {
        let found = next.map { "\"\($0)\"" } ?? "end of input"
        return Fault(position: index + 1, details: "unexpected \(found) expecting \(expecting)")
    }

    /// Tries to read something; where that fails nothing has been read.
    mutating func attempt<Value>(_ body: (inout TextCursor) throws(Fault) -> Value) -> Value? {
        var copy = self
        guard let value = try? body(&copy) else { return nil }
        self = copy
        return value
    }
}

// MARK: - Names and values

extension TextCursor {
    /// A name: quoted, or letters, digits, `_`, `$`, blanks, and `-` inside.
    mutating func name() throws(Fault) -> String {
        if next == "\"" { return try quoted() }
        var name = try namePart()
        while isAt("-"), !isAt("->") {
            index += 1
            name += "-" + (try namePart())
        }
        return name
    }

    private mutating func namePart() throws(Fault) -> String {
        let part = take(while: Self.isNameScalar)
        guard !part.isEmpty else { throw fault(expecting: "field name (* or [a..z0..9_$])") }
        return part.trimmingBlanks
    }

    /// A word such as a type or a text search language.
    mutating func word() throws(Fault) -> String {
        let word = take(while: Self.isNameScalar)
        guard !word.isEmpty else { throw fault(expecting: "letter or digit") }
        return word.trimmingBlanks
    }

    /// A text in double quotes; a backslash keeps the next character as it is.
    mutating func quoted() throws(Fault) -> String {
        try expect("\"")
        var text = ""
        while let scalar = next {
            index += 1
            switch scalar {
            case "\"": return text
            case "\\": text.unicodeScalars.append(try takeAny())
            default: text.unicodeScalars.append(scalar)
            }
        }
        throw fault(expecting: "\"")
    }

    /// A column, with the steps into its JSON.
    mutating func field() throws(Fault) -> Field {
        skipBlanks()
        let name = try name()
        let path = try jsonPath()
        skipBlanks()
        return Field(name: name, path: path)
    }

    mutating func jsonPath() throws(Fault) -> [JSONStep] {
        var steps: [JSONStep] = []
        while isAt("->") {
            let isText = take("->>")
            if !isText { try expect("->") }
            steps.append(JSONStep(isText: isText, operand: try jsonOperand()))
        }
        return steps
    }

    private mutating func jsonOperand() throws(Fault) -> JSONStep.Operand {
        if let index = attempt({ (cursor: inout TextCursor) throws(Fault) in try cursor.jsonIndex() }) {
            return .index(index)
        }
        if next == "\"" { return .key(try quoted()) }
        var key = try jsonKeyPart()
        while isAt("-"), !isAt("->") {
            index += 1
            key += "-" + (try jsonKeyPart())
        }
        return .key(key)
    }

    private mutating func jsonIndex() throws(Fault) -> String {
        let sign = take("-") ? "-" : ""
        let digits = take { "0"..."9" ~= $0 }
        guard !digits.isEmpty, isAtEnd || isAt("->") || isAt("::") || isAt(".") || isAt(",") else {
            throw fault(expecting: "digit")
        }
        return sign + digits
    }

    private mutating func jsonKeyPart() throws(Fault) -> String {
        let part = take { !"(-:.,>)".unicodeScalars.contains($0) }
        guard !part.isEmpty else { throw fault(expecting: "any non reserved character different from: .,>()") }
        return part.trimmingBlanks
    }

    static func isNameScalar(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar {
        case "a"..."z", "A"..."Z", "0"..."9", "_", " ", "$": return true
        default: break
        }
        guard !scalar.isASCII else { return false }
        switch scalar.properties.generalCategory {
        case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .modifierLetter, .otherLetter: return true
        default: return false
        }
    }
}

extension String {
    /// The text without blanks at either end.
    var trimmingBlanks: String {
        let kept = drop { $0 == " " || $0 == "\t" }
        guard let last = kept.lastIndex(where: { $0 != " " && $0 != "\t" }) else { return "" }
        return String(kept[...last])
    }
}
