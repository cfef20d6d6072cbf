import Foundation
import Testing

@testable import library_api

/// The clients leave out nothing that programs run with: what each of their object files calls is
/// compared with what the compiler knows of the library's interface.
@Suite("Clients", .timeLimit(.minutes(5)))
struct ClientCoverageTests {
    static let modules = [
        "Stoic", "StoicProcess", "StoicLog", "StoicSubprocess", "StoicTesting",
    ]
    static let clients = [
        "ClientTests.build/MainActorClient.swift.o", "ClientTests.build/ActorClient.swift.o",
        "ClientTests.build/FreeClient.swift.o", "client_toplevel.build/main.swift.o",
    ]

    @Test("call every public async function", arguments: clients)
    func callEverything(_ client: String) throws {
        let called = try Self.demangled(Self.asyncFunctions(in: "\(Built.programs)/\(client)"))
        let wanted = try Self.publicAsyncFunctions
        #expect(wanted.count > 40)
        let missing = wanted.filter { !called.contains($0.key) }.values.sorted()
        #expect(missing.isEmpty, "\(client) does not call \(missing.joined(separator: ", "))")
    }

    @Test("of top-level code run to their end")
    func topLevel() throws {
        let result = try Program.run(["\(Built.programs)/client-toplevel"])
        #expect(result.code == 0 && result.output.contains("called everything"), "\(result.output)")
    }

    /// What they are to the linker, in words, and how they are written. A requirement of a protocol
    /// is called through those that conform.
    static var publicAsyncFunctions: [String: String] {
        get throws {
            let folder =
                NSTemporaryDirectory() + "graphs-\(getpid())-\(UInt64.random(in: 0 ... .max))"
            try FileManager.default.createDirectory(
                atPath: folder, withIntermediateDirectories: true)
            defer { swallow { try FileManager.default.removeItem(atPath: folder) } }
            // A module of ours names those of C that it uses.
            let shims = try Checkout.list("CShims").flatMap { shim in
                ["", "/include"].flatMap { ["-I", "\(Checkout.root)/CShims/\(shim)\($0)"] }
            }
            let maps = [
                "-Xcc", "-fmodule-map-file=\(Built.programs)/CProcess.build/module.modulemap",
            ]
            var functions: [String: String] = [:]
            for module in modules {
                let command = [
                    "swift", "symbolgraph-extract", "-module-name", module, "-target",
                    try target(), "-I", Built.modules, "-minimum-access-level", "public",
                    "-output-dir", folder,
                ]
                let result = try Program.run(command + shims + maps)
                try #require(result.code == 0, "\(result.output)")
                let graph = try SymbolGraph.load(module, from: folder)
                let requirements = Set(
                    graph.relationships.filter { $0.kind == "requirementOf" }.map(\.source))
                let symbols = graph.symbols.filter {
                    $0.isAsync && !$0.isSynthesized && !requirements.contains($0.identifier.precise)
                }
                let names = symbols.map { "$s" + $0.identifier.precise.dropFirst(2) + "Tu" }
                for (symbol, words) in zip(symbols, try demangle(names)) {
                    functions[words] = "\(module).\(symbol.path)"
                }
            }
            return functions
        }
    }

    private static func swallow(_ body: () throws -> Void) {
        // A folder that stays behind in the temporary directory hurts nobody.
        do { try body() } catch {}
    }

    private static func target() throws -> String {
        let info = try Program.run(["swiftc", "-print-target-info"]).output
        let line = try #require(
            info.split(separator: "\n").first { $0.contains("unversionedTriple") })
        return String(line.split(separator: "\"")[3])
    }

    /// The names of async functions that an object file defines or calls.
    private static func asyncFunctions(in file: String) throws -> [String] {
        let data = try Data(contentsOf: URL(fileURLWithPath: file))
        return data.split(separator: 0).filter {
            $0.starts(with: Array("$s".utf8)) && $0.suffix(2).elementsEqual(Array("Tu".utf8))
        }.map { String(decoding: $0, as: UTF8.self) }
    }

    private static func demangled(_ names: [String]) throws -> Set<String> {
        Set(try demangle(names))
    }

    private static func demangle(_ names: [String]) throws -> [String] {
        guard !names.isEmpty else { return [] }
        let output = try Program.run(["swift", "demangle", "-compact"] + names).output
        // The interface names the module, the linker's names do not.
        return output.split(separator: "\n").map {
            String($0.replacing("_Concurrency.", with: "Swift."))
        }
    }
}
