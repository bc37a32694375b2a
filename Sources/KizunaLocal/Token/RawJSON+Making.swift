internal import KizunaCore

extension RawJSON {
    static func string(_ text: String) -> RawJSON { RawJSON(string: text) }
    static func number(_ value: Int) -> RawJSON { RawJSON(unchecked: Array(String(value).utf8)) }
    static func boolean(_ value: Bool) -> RawJSON { RawJSON(unchecked: Array(String(value).utf8)) }
    static func string(orNull text: String?) -> RawJSON { text.map { RawJSON(string: $0) } ?? .null }

    /// An object of these members, in this order.
    static func object(_ members: (String, RawJSON)...) -> RawJSON {
        RawJSON(members: members.map { Member(name: $0.0, value: $0.1) })
    }

    /// A number without a fraction.
    var integerValue: Int? { kind == .number ? Int(text) : nil }

    var booleanValue: Bool? {
        guard kind == .boolean else { return nil }
        return text == "true"
    }
}
