/// The reference of the config as Markdown, generated from the table that validates.
public func configReference() -> String {
    let tables = TableName.allCases.map { SchemaTable.named($0).reference }
    return referencePreamble + tables.joined()
}

private let referencePreamble = """
    # The config, key by key

    This page is generated from the table that checks configs; a test compares the two. What the
    values mean together is in [the contract of the config](../design/05-config.md).

    The file is `orchestrator.yaml`, `orchestrator.yml` or `orchestrator.json`, found in the working
    directory or above it. The schema decides types, not the text: `NO` and `010` stay text where
    text is wanted. Durations are written `500ms`, `1m30s`, `2h` (units d, h, m, s, ms, us, ns),
    sizes `10MiB` or `10MB`; both need their unit. Keys that begin with `x-` are free, except
    `x-simulate` of a service.

    Where a value takes `${VAR}`, so it takes `${VAR:-default}` (if unset or empty) and
    `${VAR:?message}`; the variables are those of the caller's environment, and one that is not set
    is an error. `$$` is one `$`. Any other `$` is itself: `$A` and `5$` arrive as they are.

    """

extension SchemaTable {
    fileprivate var reference: String {
        var text = "\n## \(name.rawValue)\n\n\(meaning)\n\n"
        text += "| key | value | default | meaning | since |\n|---|---|---|---|---|\n"
        for key in keys { text += key.row }
        return text
    }
}

extension SchemaKey {
    fileprivate var row: String {
        let words: String =
            switch fits {
            case .every: meaning
            case .service: "Not for a oneshot. \(meaning)"
            case .oneshot: "Only for a oneshot. \(meaning)"
            }
        let cells = ["`\(name)`", type.referenceText, shownDefault, words, since]
        return "| " + cells.map(Self.escaped).joined(separator: " | ") + " |\n"
    }

    /// A default that is written as it would be in the config is shown as code.
    private var shownDefault: String {
        let isValue =
            !absent.contains(" ") && !["required", "none", "nothing", "once"].contains(absent)
        return isValue && !absent.contains("`") ? "`\(absent)`" : absent
    }

    /// A bar would end the cell, also inside code.
    private static func escaped(_ cell: String) -> String {
        cell.split(separator: "|", omittingEmptySubsequences: false).joined(separator: "\\|")
    }
}

extension ValueType {
    /// What the reference calls it.
    fileprivate var referenceText: String {
        switch self {
        case .text(let rule):
            switch rule.interpolation {
            case .none: "text"
            case .variables: "text with `${VAR}`"
            case .template: "text with `${VAR}` and `${service.key}`"
            }
        case .flag: "`true` or `false`"
        case .integer(let range): "\(range.lowerBound) to \(range.upperBound)"
        case .number(let range): "\(range.lowerBound) to \(range.upperBound)"
        case .duration(let zeroIsLegal): zeroIsLegal ? "duration" : "duration above `0s`"
        case .size(let range):
            "size, \(sizeText(range.lowerBound)) to \(sizeText(range.upperBound))"
        case .signal: "signal: `INT`, `SIGINT`, `2`, `RTMIN+3`"
        case .octal: "octal number"
        case .limit: "number, size or `unlimited`"
        case .choice(let words, _): alternatives(words.map { "`\($0)`" })
        case .command: "text or list with `${VAR}` and `${service.key}`"
        case .list(let element): "list of (\(element.referenceText))"
        case .map(let keys, let element): "map from \(keys.noun) to (\(element.referenceText))"
        case .object(let table): "[\(table.rawValue)](#\(table.rawValue.lowercased()))"
        case .either(let types): alternatives(types.map(\.referenceText))
        }
    }
}

extension MapKeys {
    fileprivate var noun: String {
        switch self {
        case .services: "service names"
        case .variables: "variable names"
        case .provided: "keys"
        case .limits: "limit names"
        }
    }
}
