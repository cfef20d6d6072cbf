import Foundation

/// What the compiler knows of a module's public declarations, as `swift symbolgraph-extract` writes
/// it down.
struct SymbolGraph: Decodable {
    let symbols: [Symbol]
    let relationships: [Relationship]

    struct Symbol: Decodable {
        struct Identifier: Decodable { let precise: String }
        struct Kind: Decodable { let identifier: String }
        struct Fragment: Decodable { let spelling: String }
        struct Comment: Decodable {
            struct Line: Decodable { let text: String }
            let lines: [Line]
        }
        struct Availability: Decodable {
            let isUnconditionallyDeprecated: Bool?
            let deprecated: Version?
            struct Version: Decodable { let major: Int }
        }

        let identifier: Identifier
        let kind: Kind
        let pathComponents: [String]
        let declarationFragments: [Fragment]
        let docComment: Comment?
        let availability: [Availability]?

        /// `Scope.fork(_:onFailure:_:)`.
        var path: String { pathComponents.joined(separator: ".") }

        /// What is written in the source, without attributes of availability, on one line.
        var declaration: String {
            let text = declarationFragments.map(\.spelling).joined()
            return text.split { $0.isWhitespace }.joined(separator: " ")
        }

        /// Whether it came with a conformance, from an extension of another module's protocol.
        var isSynthesized: Bool { identifier.precise.contains("::SYNTHESIZED::") }

        var isDeprecated: Bool {
            (availability ?? []).contains {
                $0.isUnconditionallyDeprecated == true || $0.deprecated != nil
            }
        }

        /// Whether its documentation says that cases may be added.
        var mayGrow: Bool {
            kind.identifier == "swift.enum"
                && (docComment?.lines ?? []).contains { $0.text.contains("New cases may be added") }
        }

        /// Whether calling it takes an `await`. Functions among its parameters do not count, and
        /// types of functions are not called.
        var isAsync: Bool {
            guard kind.identifier != "swift.typealias" else { return false }
            var depth = 0
            var word = ""
            for character in declaration + " " {
                if character.isLetter {
                    word.append(character)
                    continue
                }
                if word == "async", depth == 0 { return true }
                word = ""
                if "([".contains(character) { depth += 1 }
                if ")]".contains(character) { depth -= 1 }
            }
            return false
        }
    }

    struct Relationship: Decodable {
        let kind: String
        let source: String
        let target: String
        let targetFallback: String?
    }

    /// The graphs of a module in `folder`: its own, and those of its extensions of others' types.
    static func load(_ module: String, from folder: String) throws -> SymbolGraph {
        let names = try FileManager.default.contentsOfDirectory(atPath: folder).sorted().filter {
            $0 == "\(module).symbols.json"
                || ($0.hasPrefix("\(module)@") && $0.hasSuffix(".symbols.json"))
        }
        guard names.contains("\(module).symbols.json") else { throw NoGraph(module: module) }
        let graphs = try names.map { name in
            let data = try Data(contentsOf: URL(fileURLWithPath: "\(folder)/\(name)"))
            return try JSONDecoder().decode(SymbolGraph.self, from: data)
        }
        return SymbolGraph(
            symbols: graphs.flatMap(\.symbols), relationships: graphs.flatMap(\.relationships))
    }

    struct NoGraph: Error { let module: String }
}
