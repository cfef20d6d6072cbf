/// The JSON Schema (draft-07) of the config, for editors; generated from the table that validates.
///
/// It accepts a little more than the loader: what takes two keys or two services to see is not in
/// it.
public func jsonSchema() -> String {
    let definitions = TableName.allCases.filter { $0 != .project }.map { name in
        (key: name.rawValue, value: JSONText.object(SchemaTable.named(name).schemaMembers))
    }
    let members: [(key: String, value: JSONText)] = [
        ("$schema", .string("http://json-schema.org/draft-07/schema#")),
        ("title", .string("The config of orchestrator")),
    ]
    let whole =
        members + SchemaTable.project.schemaMembers + [("definitions", .object(definitions))]
    return JSONText.object(whole).written() + "\n"
}

extension SchemaTable {
    fileprivate var schemaMembers: [(key: String, value: JSONText)] {
        var members: [(key: String, value: JSONText)] = [
            ("type", .string("object")), ("description", .string(meaning)),
            ("properties", .object(keys.map { ($0.name, $0.schema) })),
            ("patternProperties", .object([("^x-", .object([]))])),
            ("additionalProperties", .word("false")),
        ]
        // A service may take its command from `defaults` or from what it extends.
        let required = name == .service ? [] : keys.filter(\.isRequired).map(\.name)
        if !required.isEmpty {
            members.append(("required", .array(required.map { .string($0) })))
        }
        return members
    }
}

extension SchemaKey {
    fileprivate var schema: JSONText {
        let help = isRequired ? meaning : "\(meaning) Default: \(absent)."
        let members = type.schemaMembers
        // Whatever stands beside $ref is ignored in draft-07.
        let isReference = members.contains { $0.key == "$ref" }
        let type =
            isReference ? [(key: "allOf", value: JSONText.array([.object(members)]))] : members
        return .object([("description", .string(help))] + type)
    }
}

extension ValueType {
    private static let durationPattern = "([0-9]+(\\.[0-9]+)?(d|h|m|s|ms|us|ns))+"
    private static let sizePattern = "[0-9]+(\\.[0-9]+)?(B|[kK]B|[MGT]B|[KMGT]iB)"

    /// Its JSON Schema. A plain `5432` or `true` is no string for an editor, and is text for us.
    fileprivate var schemaMembers: [(key: String, value: JSONText)] {
        switch self {
        case .text(let rule):
            let types = ["string", "number", "boolean"].map { JSONText.string($0) }
            return [("type", .array(types))]
                + (rule.mayBeEmpty ? [] : [("minLength", .word("1"))])
        case .flag: return [("type", .string("boolean"))]
        case .integer(let range):
            return [
                ("type", .string("integer")), ("minimum", .word("\(range.lowerBound)")),
                ("maximum", .word("\(range.upperBound)")),
            ]
        case .number(let range):
            return [
                ("type", .string("number")), ("minimum", .word("\(range.lowerBound)")),
                ("maximum", .word("\(range.upperBound)")),
            ]
        case .duration: return Self.pattern(Self.durationPattern)
        case .size: return Self.pattern(Self.sizePattern)
        case .signal:
            return [
                ("type", .array([.string("string"), .string("integer")])),
                ("minimum", .word("1")), ("maximum", .word("64")),
            ]
        case .octal: return [("type", .array([.string("string"), .string("integer")]))]
        case .limit:
            return Self.anyOf([
                [("type", .string("integer")), ("minimum", .word("0"))],
                Self.pattern("unlimited|[0-9]+|\(Self.sizePattern)"),
            ])
        case .choice(let words, _): return [("enum", .array(words.map { .string($0) }))]
        case .command, .list, .map, .object, .either: return nestedMembers
        }
    }

    private var nestedMembers: [(key: String, value: JSONText)] {
        switch self {
        case .command:
            return Self.anyOf([
                [("type", .string("string")), ("minLength", .word("1"))],
                Self.array(of: .text(.template)) + [("minItems", .word("1"))],
            ])
        case .list(let element): return Self.array(of: element)
        case .map(let keys, let element):
            let pattern: [(key: String, value: JSONText)] =
                keys == .services ? [("^x-", .object([]))] : []
            return [
                ("type", .string("object")),
                ("propertyNames", .object(Self.pattern(keys.pattern))),
                ("patternProperties", .object(pattern)),
                ("additionalProperties", .object(element.schemaMembers)),
            ]
        case .object(let table): return [("$ref", .string("#/definitions/\(table.rawValue)"))]
        case .either(let types): return Self.anyOf(types.map(\.schemaMembers))
        case .text, .flag, .integer, .number, .duration, .size, .signal, .octal, .limit, .choice:
            return []
        }
    }

    private static func pattern(_ pattern: String) -> [(key: String, value: JSONText)] {
        [("type", .string("string")), ("pattern", .string("^(\(pattern))$"))]
    }

    private static func array(of element: ValueType) -> [(key: String, value: JSONText)] {
        [("type", .string("array")), ("items", .object(element.schemaMembers))]
    }

    private static func anyOf(
        _ alternatives: [[(key: String, value: JSONText)]]
    ) -> [(key: String, value: JSONText)] {
        [("anyOf", .array(alternatives.map { .object($0) }))]
    }
}

extension MapKeys {
    fileprivate var pattern: String {
        switch self {
        case .services: "x-.*|[A-Za-z0-9][A-Za-z0-9._-]{0,63}"
        case .variables, .provided: "[A-Za-z_][A-Za-z0-9_]*"
        case .limits: resourceLimitNames.joined(separator: "|")
        }
    }
}
