import Glibc
import Testing

@testable import Manifest

@Suite("The schema and what is generated from it", .timeLimit(.minutes(1)))
struct SchemaTests {
    /// Compares with the file of the checkout. With ORCHESTRATOR_WRITE_GENERATED set, the
    /// test writes what it would compare.
    private func compare(_ generated: String, to name: String) throws {
        let root = #filePath.split(separator: "/").dropLast(3).joined(separator: "/")
        let path = "/\(root)/\(name)"
        if unsafe getenv("ORCHESTRATOR_WRITE_GENERATED") != nil { try write(generated, to: path) }
        let checkedIn = String(decoding: try readFile(path, most: 1 << 20), as: UTF8.self)
        #expect(
            checkedIn == generated,
            "run the tests with ORCHESTRATOR_WRITE_GENERATED=1 to write \(name) anew")
    }

    @Test("CFG-22: the reference that is checked in is the one the table gives")
    func reference() throws { try compare(configReference(), to: "docs/reference/config.md") }

    @Test("CFG-22: the JSON Schema that is checked in is the one the table gives, and is JSON")
    func schema() throws {
        try compare(jsonSchema(), to: "schema/orchestrator.schema.json")
        let parsed = parseJSON(Array(jsonSchema().utf8))
        #expect(parsed.faults.map(\.message) == [])
        guard case .mapping(let members)? = parsed.root?.content else {
            Issue.record("the schema is no object")
            return
        }
        #expect(members.map(\.key).contains("definitions"))
    }

    @Test("every word for a foreign key is one that can be used", arguments: TableName.allCases)
    func foreignKeys(_ name: TableName) {
        let table = SchemaTable.named(name)
        let all = TableName.allCases.flatMap { SchemaTable.named($0).keys.map(\.name) }
        for (key, word) in table.foreign {
            #expect(table[key] == nil, "\(key) is a key of \(name)")
            let first = word.prefix { $0.isLetter || $0 == "-" }
            let isPhrase = ["a", "an", "one", "no", "x-NAME"].contains(String(first))
            #expect(isPhrase || all.contains(String(first)), "\(key): \(word)")
        }
    }

    @Test("every key has a sentence, a default and a version")
    func rows() {
        for name in TableName.allCases {
            for key in SchemaTable.named(name).keys {
                #expect(key.meaning.hasSuffix(".") && !key.absent.isEmpty && !key.since.isEmpty)
            }
        }
    }
}
