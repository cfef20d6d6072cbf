extension CommandTable {
    /// Every option a verb understands, its own first: they win over a global one.
    static func options(of verb: Verb?) -> [OptionDefinition] {
        (verb.map { command($0).options } ?? []) + globals
    }
}

/// Reads a command line by the command table, from left to right; the first mistake is reported.
///
/// Options may stand before, between and after arguments; `--` ends them. One-letter options may be
/// joined (`-fn20`). An option given twice keeps its last value: an alias can be overridden.
struct ArgumentParser {
    private var rest: ArraySlice<String>
    private var verb: Verb?
    private var positional: [String] = []
    private var options: [OptionName: OptionValue] = [:]
    private var globals = GlobalOptions()
    private var informing: Information?

    private enum Information { case help, version }

    /// Reads the arguments after the program's own name.
    static func parse(_ arguments: [String]) throws(UsageError) -> ParsedLine {
        var parser = ArgumentParser(rest: arguments[...])
        return try parser.run()
    }

    private init(rest: ArraySlice<String>) { self.rest = rest }

    private mutating func run() throws(UsageError) -> ParsedLine {
        while let word = rest.popFirst() {
            if word == "--" {
                for word in rest { try takeWord(word) }
                rest = []
            } else if word.hasPrefix("--") {
                try takeLong(word)
            } else if word.hasPrefix("-"), word != "-" {
                try takeShort(word)
            } else {
                try takeWord(word)
            }
            switch informing {
            case .help: return .help(verb, globals)
            case .version: return .version(globals)
            case nil: break
            }
        }
        return try finish()
    }

    // MARK: Words

    private mutating func takeWord(_ word: String) throws(UsageError) {
        guard let verb else {
            guard let found = Verb(rawValue: word) else { throw .unknownVerb(word) }
            self.verb = found
            return
        }
        let definitions = CommandTable.command(verb).arguments
        let index = min(positional.count, definitions.count - 1)
        guard index >= 0, positional.count == index || definitions[index].arity.repeats else {
            throw .unexpectedArgument(word, of: verb)
        }
        let definition = definitions[index]
        guard read(word, as: definition.kind) != nil else {
            throw .badArgument(
                word, name: definition.name, expected: expectation(definition.kind), of: verb)
        }
        positional.append(word)
    }

    // MARK: Options

    private mutating func takeLong(_ word: String) throws(UsageError) {
        let parts = word.dropFirst(2).split(
            separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        let name = String(parts[0])
        let attached = parts.count == 2 ? String(parts[1]) : nil
        let known = CommandTable.options(of: verb)
        guard let found = known.first(where: { $0.name.rawValue == name }) else {
            if attached == nil, try takeMoment(name, known) { return }
            throw .unknownOption("--" + name, of: verb)
        }
        switch found.value {
        case .none:
            guard attached == nil else { throw .unexpectedValue(found.name, of: verb) }
            store(found.name, .flag)
        case .optional(_, let kind):
            guard let attached else { return store(found.name, .flag) }
            store(found.name, try value(attached, kind, of: found.name))
        case .required(let placeholder, let kind):
            let text: String
            if let attached {
                text = attached
            } else {
                text = try nextValue(of: found.name, placeholder)
            }
            store(found.name, try value(text, kind, of: found.name))
        }
    }

    /// `--stop@30s`: a moment may follow the name of an option that takes nothing else.
    private mutating func takeMoment(
        _ word: String, _ known: [OptionDefinition]
    ) throws(UsageError) -> Bool {
        guard let sign = word.firstIndex(of: "@"),
            let found = known.first(where: { $0.name.rawValue == word[..<sign] }),
            case .required(_, let kind) = found.value, case .incident = kind
        else { return false }
        let text = String(word[word.index(after: sign)...])
        store(found.name, try value(text, kind, of: found.name))
        return true
    }

    /// `-f`, `-n20`, `-n 20`, `-fn20`.
    private mutating func takeShort(_ word: String) throws(UsageError) {
        var letters = word.dropFirst()
        while let letter = letters.popFirst() {
            let found = CommandTable.options(of: verb).first { $0.short == letter }
            guard let found else { throw unknownLetter(letter, in: word) }
            switch found.value {
            case .none, .optional:
                store(found.name, .flag)
            case .required(let placeholder, let kind):
                let attached = letters.first == "=" ? letters.dropFirst() : letters
                let text =
                    letters.isEmpty
                    ? try nextValue(of: found.name, placeholder) : String(attached)
                store(found.name, try value(text, kind, of: found.name))
                letters = ""
            }
        }
    }

    /// Names the whole word where it looks like a long option with one dash, else the letter.
    private func unknownLetter(_ letter: Character, in word: String) -> UsageError {
        let whole = UsageError.unknownOption(word, of: verb)
        return whole.suggestion == nil ? .unknownOption("-\(letter)", of: verb) : whole
    }

    private mutating func nextValue(
        of option: OptionName, _ placeholder: String
    ) throws(UsageError) -> String {
        // A value may begin with a dash (`--status -1`), but a forgotten one must not swallow `--`
        // or the next option.
        guard let next = rest.first, !next.hasPrefix("--") else {
            throw .missingValue(option, placeholder: placeholder, of: verb)
        }
        rest.removeFirst()
        return next
    }

    private func value(
        _ text: String, _ kind: ValueKind, of option: OptionName
    ) throws(UsageError) -> OptionValue {
        guard let value = read(text, as: kind) else {
            throw .badOptionValue(option, text, expected: expectation(kind), of: verb)
        }
        return value
    }

    private mutating func store(_ name: OptionName, _ value: OptionValue) {
        switch (name, value) {
        case (.file, .text(let path)): globals.file = path
        case (.json, _): globals.json = true
        case (.color, .text(let word)): globals.color = .init(rawValue: word) ?? .auto
        case (.help, _): informing = .help
        case (.version, _): informing = .version
        case (_, .incidents(let more)):
            guard case .incidents(let given) = options[name] else {
                options[name] = value
                return
            }
            options[name] = .incidents(given + more)
        case (_, _): options[name] = value
        }
    }

    // MARK: The whole

    private func finish() throws(UsageError) -> ParsedLine {
        guard let verb else { throw .noVerb }
        let definitions = CommandTable.command(verb).arguments
        for (index, definition) in definitions.enumerated()
        where definition.arity.isRequired && index >= positional.count {
            throw .missingArgument(definition.name, of: verb)
        }
        let invocation = Invocation(
            verb: verb, arguments: positional, options: options, globals: globals)
        return try checked(invocation)
    }

    /// What one definition alone cannot say.
    private func checked(_ invocation: Invocation) throws(UsageError) -> ParsedLine {
        switch invocation.verb {
        case .help:
            guard !invocation.has(.reference) else { break }
            return .help(invocation.arguments.first.flatMap(Verb.init(rawValue:)), globals)
        case .down:
            // Killing is for the whole project: a tree cannot be skipped ahead of its dependents.
            guard invocation.has(.now), let first = invocation.arguments.first else { break }
            throw .onlyForAll(.now, first, of: .down)
        case .completion:
            guard invocation.arguments.isEmpty, !invocation.has(.services) else { break }
            throw .missingArgument("shell", of: .completion)
        case .notify:
            guard invocation.arguments.isEmpty, invocation.options.isEmpty else { break }
            throw .nothingToSay(.notify)
        case .simulate:
            guard invocation.has(.seeds), invocation.has(.seed) else { break }
            throw .exclusive(.seeds, .seed, of: .simulate)
        case .up, .status, .logs, .start, .stop, .restart, .signal, .reload, .plan, .check,
            .graph, .config, .schema, .events, .why, .wait, .version:
            break
        }
        return .run(invocation)
    }
}
