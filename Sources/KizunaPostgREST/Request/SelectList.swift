/// One output column of a select list.
package struct SelectedColumn: Sendable, Hashable {
    /// The member's name in the response.
    package let name: String
    /// The table's column.
    package let column: String

    package init(name: String, column: String) {
        self.name = name
        self.column = column
    }
}

/// The columns of a response, as far as a row can be built from the table's own columns.
package enum SelectedColumns: Sendable, Hashable {
    /// Every column of the table.
    case all
    /// These columns, some of them renamed.
    case list([SelectedColumn])
    /// Casts, paths, aggregates, referenced tables, or a text that the server would reject.
    case notFollowable
}

/// A parsed select list (docs/spec/postgrest.md, Select lists).
package struct SelectList: Sendable, Hashable {
    /// A referenced table in the list.
    package struct Embed: Sendable, Hashable {
        /// The name that a filter on it uses: the alias if there is one.
        package let name: String
        /// The table, or the foreign key that refers to it.
        package let target: String
        /// The words after `!` that are not join types: a foreign key, a column, or a join table.
        package let hints: [String]
        package let isInner: Bool
        package let isSpread: Bool
        package let inside: SelectList
    }

    package private(set) var selected: SelectedColumns
    package private(set) var embeds: [Embed] = []
    /// The plain columns in the list, also beside a star.
    package private(set) var named: [SelectedColumn] = []
    /// Whether the list requests all columns of the table.
    package private(set) var hasStar = false

    package init(parsing text: String) {
        guard !text.isEmpty else {
            selected = .all
            hasStar = true
            return
        }
        var columns: [SelectedColumn] = []
        var isFollowable = true
        for piece in WireSplit.topLevel(text, at: ",") {
            let item = WireCursor.trimmed(piece)
            if item == "*" {
                hasStar = true
            } else if let embed = Self.embed(item) {
                embeds.append(embed)
                isFollowable = false
            } else if let column = Self.column(item) {
                columns.append(column)
            } else {
                isFollowable = false
            }
        }
        named = columns
        if hasStar, columns.contains(where: { !WireText.areSame($0.name, $0.column) }) { isFollowable = false }
        selected = !isFollowable ? .notFollowable : hasStar ? .all : .list(columns)
    }

    private static func column(_ item: String) -> SelectedColumn? {
        var cursor = WireCursor(item)
        guard let first = cursor.name() else { return nil }
        if cursor.isAtEnd { return SelectedColumn(name: first, column: first) }
        guard cursor.take(":"), cursor.next != ":", let column = cursor.name(), cursor.isAtEnd else { return nil }
        return SelectedColumn(name: first, column: column)
    }

    private static func embed(_ item: String) -> Embed? {
        var cursor = WireCursor(item)
        let isSpread = cursor.take("...")
        guard var target = cursor.name() else { return nil }
        var alias: String?
        if !isSpread, cursor.take(":") {
            guard let name = cursor.name() else { return nil }
            alias = target
            target = name
        }
        var isInner = false
        var hints: [String] = []
        while cursor.take("!") {
            guard let word = cursor.name() else { return nil }
            switch word {
            case "inner": isInner = true
            case "left": break
            default: hints.append(word)
            }
        }
        guard target != "count", cursor.take("(") else { return nil }
        let rest = cursor.rest()
        guard rest.unicodeScalars.last == ")" else { return nil }
        let inside = String(rest.unicodeScalars.dropLast())
        return Embed(
            name: alias ?? target, target: target, hints: hints, isInner: isInner, isSpread: isSpread,
            inside: SelectList(parsing: inside))
    }
}

extension TableRequest {
    /// The parsed select list.
    package var selectList: SelectList { SelectList(parsing: columns) }

    /// The table's columns in the response.
    package var selectedColumns: SelectedColumns { selectList.selected }
}
