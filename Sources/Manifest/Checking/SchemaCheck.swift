/// Turns nodes into values of the types the schema asks for, and reports everything that is not.
///
/// Recurses as deep as the nodes, which their reader capped.
struct SchemaCheck {
    let log: DiagnosticLog
    let interpolator: Interpolator

    /// The value of `node`, or `nil` after a report.
    func value(_ node: Node, _ type: ValueType, _ path: String) -> Checked? {
        if case .reported = node.content { return nil }
        let spot = Spot(place: node.place, path: path)
        switch type {
        case .text, .flag, .integer, .number, .duration, .size, .signal, .octal, .limit, .choice:
            guard case .scalar(let text) = node.content else {
                wrongShape(node, type, spot)
                return nil
            }
            return scalar(text, type, spot)
        case .command: return command(node, spot)
        case .list(let element): return list(node, element, spot)
        case .map(let keys, let element): return map(node, keys, element, spot)
        case .object(let table):
            return object(node, .named(table), path).map { Checked(spot, .object($0)) }
        case .either(let types):
            guard let fitting = types.first(where: { $0.accepts(node) }) else {
                wrongShape(node, type, spot)
                return nil
            }
            return value(node, fitting, path)
        }
    }

    /// The keys of `node` by their table, or `nil` after a report that it is no map at all.
    func object(_ node: Node, _ table: SchemaTable, _ path: String) -> CheckedObject? {
        let spot = Spot(place: node.place, path: path)
        guard case .mapping(let entries) = node.content else {
            if case .reported = node.content { return nil }
            wrongShape(node, .object(table.name), spot)
            return nil
        }
        var result = CheckedObject(place: node.place, path: path)
        for entry in entries where !entry.key.hasPrefix("x-") || table[entry.key] != nil {
            let keyPath = joined(path, entry.key)
            guard let key = table[entry.key] else {
                unknownKey(entry, table, path)
                continue
            }
            result.given.append(entry.key)
            if let checked = value(entry.value, key.type, keyPath) {
                result.values[entry.key] = checked
            }
        }
        // A service may take a required key from its defaults, so that is seen later.
        guard table.name != .service else { return result }
        for key in table.keys where key.isRequired && !result.given.contains(key.name) {
            log.error(spot, "\(key.name) is missing")
        }
        return result
    }

    private func command(_ node: Node, _ spot: Spot) -> Checked? {
        switch node.content {
        case .scalar(let text):
            guard !text.isEmpty else {
                log.error(spot, "the command is empty")
                return nil
            }
            return Checked(spot, .commandText(text))
        case .sequence(let items):
            guard !items.isEmpty else {
                log.error(spot, "the command is empty")
                return nil
            }
            return list(node, .text(.template), spot)
        case .null, .reported, .mapping:
            wrongShape(node, .command, spot)
            return nil
        }
    }

    /// All or nothing: half a list would mean something else.
    private func list(_ node: Node, _ element: ValueType, _ spot: Spot) -> Checked? {
        guard case .sequence(let items) = node.content else {
            wrongShape(node, .list(of: element), spot)
            return nil
        }
        let checked = items.enumerated().map { value($1, element, "\(spot.path)[\($0)]") }
        guard !checked.contains(where: { $0 == nil }) else { return nil }
        return Checked(spot, .list(checked.compactMap { $0 }))
    }

    /// Entries that are wrong are left out: the names of the others are still worth checking.
    private func map(
        _ node: Node, _ keys: MapKeys, _ element: ValueType, _ spot: Spot
    ) -> Checked? {
        guard case .mapping(let entries) = node.content else {
            wrongShape(node, .map(keys, of: element), spot)
            return nil
        }
        var result: [Checked.Entry] = []
        for entry in entries where keys != .services || !entry.key.hasPrefix("x-") {
            let keySpot = Spot(place: entry.keyPlace, path: joined(spot.path, entry.key))
            guard isLegal(entry.key, keys, keySpot) else { continue }
            if let checked = value(entry.value, element, keySpot.path) ?? stub(keys, keySpot) {
                result.append(Checked.Entry(key: entry.key, spot: keySpot, value: checked))
            }
        }
        return Checked(spot, .map(result))
    }

    /// A service that is no map was reported; its name still is one that others may need.
    private func stub(_ keys: MapKeys, _ spot: Spot) -> Checked? {
        guard keys == .services else { return nil }
        let object = CheckedObject(place: spot.place, path: spot.path, given: ["command"])
        return Checked(spot, .object(object))
    }

    private func isLegal(_ key: String, _ keys: MapKeys, _ spot: Spot) -> Bool {
        switch keys {
        case .services:
            guard !isServiceName(key) else { return true }
            log.error(
                spot, "\(quoted(key)) cannot be the name of a service",
                suggestion: "letters, digits, -, _ and ., at most 64, a letter or a digit first")
        case .variables:
            guard !isVariableName(key) else { return true }
            log.error(spot, "\(quoted(key)) is not the name of a variable")
        case .provided:
            guard !isVariableName(key) else { return true }
            log.error(
                spot, "\(quoted(key)) cannot be the key of a value",
                suggestion: "letters, digits and _, not a digit first")
        case .limits:
            guard !resourceLimitNames.contains(key) else { return true }
            log.error(
                spot, "there is no limit \(quoted(key))", near: key, among: resourceLimitNames)
        }
        return false
    }

    private func unknownKey(_ entry: Node.Entry, _ table: SchemaTable, _ path: String) {
        let spot = Spot(place: entry.keyPlace, path: path)
        if let word = table.foreign[entry.key] {
            let advice = word.hasPrefix("no ") ? "there are \(word) here" : "use \(word)"
            log.error(spot, "unknown key \(quoted(entry.key))", suggestion: advice)
        } else {
            log.error(
                spot, "unknown key \(quoted(entry.key))", near: entry.key,
                among: table.keys.map(\.name))
        }
    }

    private func wrongShape(_ node: Node, _ type: ValueType, _ spot: Spot) {
        log.error(
            spot, "expected \(type.expectation), found \(node.kind)",
            suggestion: form(node, type).map { "write \($0)" })
    }

    /// How a single text would be written where a list or a map is wanted.
    private func form(_ node: Node, _ type: ValueType) -> String? {
        guard case .scalar(let text) = node.content, text.utf8.count <= 64 else { return nil }
        switch type {
        case .list(of: .text): return "[\(text)]"
        case .list(of: .either(let types)):
            return types.contains { $0.isWord(text) } ? "[\(text)]" : nil
        case .object(.need):
            let isCondition = ["ready", "started", "completed"].contains(text)
            return isCondition ? "{condition: \(text)}" : "{}"
        case .object(.limit): return UInt(text).map { "{count: \($0), window: 5m}" }
        case .object(.rung):
            do { return "{signal: \(signalName(try parseSignal(text)))}" } catch { return nil }
        case .either(let types): return types.lazy.compactMap { form(node, $0) }.first
        case .text, .flag, .integer, .number, .duration, .size, .signal, .octal, .limit, .choice,
            .command, .list, .map, .object:
            return nil
        }
    }

    private func joined(_ path: String, _ key: String) -> String {
        path.isEmpty ? key : "\(path).\(key)"
    }
}

extension ValueType {
    /// Whether `text` is one of its words.
    fileprivate func isWord(_ text: String) -> Bool {
        if case .choice(let words, _) = self { words.contains(text) } else { false }
    }
}

extension Checked {
    init(_ spot: Spot, _ value: Value) {
        self.init(place: spot.place, path: spot.path, value: value)
    }
}
