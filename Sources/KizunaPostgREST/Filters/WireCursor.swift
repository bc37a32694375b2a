/// Reads a parameter's text by Unicode scalars, with the grammar of docs/spec/postgrest.md, Logic trees and names.
struct WireCursor {
    private let scalars: [Unicode.Scalar]
    var position = 0

    init(_ text: String) { scalars = Array(text.unicodeScalars) }

    var isAtEnd: Bool { position >= scalars.count }
    var next: Unicode.Scalar? { isAtEnd ? nil : scalars[position] }

    /// The rest of the text.
    mutating func rest() -> String {
        defer { position = scalars.count }
        return text(scalars[position...])
    }

    mutating func take(_ scalar: Unicode.Scalar) -> Bool {
        guard next == scalar else { return false }
        position += 1
        return true
    }

    mutating func take(_ word: String) -> Bool {
        let wanted = Array(word.unicodeScalars)
        guard scalars.count - position >= wanted.count,
            scalars[position..<position + wanted.count].elementsEqual(wanted)
        else { return false }
        position += wanted.count
        return true
    }

    mutating func skipBlanks() {
        while next == " " || next == "\t" { position += 1 }
    }

    /// Reads scalars while the condition holds.
    mutating func take(while condition: (Unicode.Scalar) -> Bool) -> String {
        let start = position
        while let scalar = next, condition(scalar) { position += 1 }
        return text(scalars[start..<position])
    }

    /// Reads `"…"` with backslash escapes; returns nil and does not move if there is none.
    mutating func quoted() -> String? {
        let start = position
        guard take("\"") else { return nil }
        var result = String.UnicodeScalarView()
        while let scalar = next {
            position += 1
            if scalar == "\"" { return String(result) }
            if scalar == "\\" {
                guard let escaped = next else { break }
                position += 1
                result.append(escaped)
            } else {
                result.append(scalar)
            }
        }
        position = start
        return nil
    }

    /// Reads the name of a column or table, quoted or plain; returns nil and does not move if there is none.
    mutating func name() -> String? {
        if next == "\"" { return quoted() }
        let start = position
        var parts: [String] = []
        repeat {
            let part = take(while: Self.isNameScalar)
            guard !part.isEmpty else {
                position = start
                return nil
            }
            parts.append(Self.trimmed(part))
            guard next == "-", position + 1 < scalars.count, scalars[position + 1] != ">" else { break }
            position += 1
        } while true
        return parts.joined(separator: "-")
    }

    /// Reads the arrows of a JSON path; returns nil if nothing follows an arrow.
    mutating func pathSteps() -> [PathStep]? {
        var steps: [PathStep] = []
        while true {
            let isText: Bool
            if take("->>") {
                isText = true
            } else if take("->") {
                isText = false
            } else {
                return steps
            }
            guard let operand = pathOperand() else { return nil }
            steps.append(PathStep(operand: operand, isText: isText))
        }
    }

    private mutating func pathOperand() -> PathStep.Operand? {
        let start = position
        let isNegative = take("-")
        let digits = take(while: { ("0"..."9").contains($0) })
        let stops = isAtEnd || next == "." || next == "," || isNext("->") || isNext("::")
        if !digits.isEmpty, stops {
            guard let index = Int(digits) else { return nil }
            return .index(isNegative ? -index : index)
        }
        position = start
        if next == "\"" { return quoted().map(PathStep.Operand.key) }
        let reserved: Set<Unicode.Scalar> = ["(", "-", ":", ".", ",", ">", ")"]
        var parts: [String] = []
        repeat {
            let part = take(while: { !reserved.contains($0) })
            guard !part.isEmpty else { return nil }
            parts.append(Self.trimmed(part))
            guard next == "-", position + 1 < scalars.count, scalars[position + 1] != ">" else { break }
            position += 1
        } while true
        return .key(parts.joined(separator: "-"))
    }

    private func isNext(_ word: String) -> Bool {
        var copy = self
        return copy.take(word)
    }

    private func text(_ slice: ArraySlice<Unicode.Scalar>) -> String {
        String(String.UnicodeScalarView(slice))
    }

    static func isNameScalar(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar {
        case "_", " ", "$", "0"..."9": return true
        default: break
        }
        switch scalar.properties.generalCategory {
        case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .modifierLetter, .otherLetter: return true
        default: return false
        }
    }

    static func trimmed(_ text: String) -> String {
        let scalars = text.unicodeScalars
        guard let first = scalars.firstIndex(where: { !$0.properties.isWhitespace }),
            let last = scalars.lastIndex(where: { !$0.properties.isWhitespace })
        else { return "" }
        return String(String.UnicodeScalarView(scalars[first...last]))
    }
}
