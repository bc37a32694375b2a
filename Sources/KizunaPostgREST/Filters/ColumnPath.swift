/// One arrow of a JSON path: `->key`, `->>0`.
package struct PathStep: Sendable, Hashable {
    package enum Operand: Sendable, Hashable {
        case key(String)
        case index(Int)
    }

    package let operand: Operand
    /// Whether the arrow is `->>`, whose result is text.
    package let isText: Bool
}

/// The operand of a filter or order term: a column of the table or of a referenced table, or a path into its JSON.
package struct ColumnPath: Sendable, Hashable {
    package let embeds: [String]
    package let column: String
    package let steps: [PathStep]

    package init(embeds: [String] = [], column: String, steps: [PathStep] = []) {
        self.embeds = embeds
        self.column = column
        self.steps = steps
    }

    /// Parses `a.b.column->key`; nil if the server would not read it as a column.
    package init?(parsing text: String) {
        var cursor = WireCursor(text)
        var names: [String] = []
        repeat {
            guard let name = cursor.name() else { return nil }
            names.append(name)
        } while cursor.take(".")
        guard let steps = cursor.pathSteps(), cursor.isAtEnd, let column = names.popLast() else { return nil }
        self.init(embeds: names, column: column, steps: steps)
    }
}
