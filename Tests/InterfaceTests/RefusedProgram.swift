import Testing

/// A program of `Refused` that the compiler has to refuse. The same file, corrected in the one line
/// that is wrong, is compiled too: it is that line that is refused, and not an import that fails.
struct RefusedProgram: CustomTestStringConvertible {
    /// Under `Tests/InterfaceTests/Refused`.
    let path: String
    /// What the compiler says; `nil` where it says nothing of use.
    let error: String?

    var testDescription: String { path }

    static let folder = "Tests/InterfaceTests/Refused"

    /// All programs of a folder.
    static func all(in name: String) throws -> [RefusedProgram] {
        try Checkout.list("\(folder)/\(name)").map { try RefusedProgram("\(name)/\($0)") }
    }

    init(_ path: String) throws {
        self.path = path
        let lines = try Checkout.read("\(Self.folder)/\(path)").split(separator: "\n")
        try #require(
            lines.first?.hasPrefix("// why: ") == true, "\(path) says why in its first line")
        let marker = "// error: "
        let line = try #require(lines.first { $0.hasPrefix(marker) }, "\(path) names its error")
        let text = line.dropFirst(marker.count)
        error = text == "any" ? nil : String(text)
    }

    /// Compiles it to object code: some errors are found only where code is made.
    func compile(corrected: Bool) throws -> Program {
        try Self.compile([path], corrected: corrected)
    }

    static func compile(_ paths: [String], corrected: Bool) throws -> Program {
        let files = paths.map { "\(Checkout.root)/\(folder)/\($0)" }
        let condition = corrected ? ["-D", "CORRECTED"] : []
        return try Program.run(
            ["swiftc", "-swift-version", "6", "-parse-as-library", "-module-name", "Refused"]
                + condition + ["-wmo", "-c", "-o", "/dev/null", "-I", Built.modules] + files,
            // Where the compiler crashes its own backtrace would take longer than all the rest.
            environment: ["SWIFT_BACKTRACE": "enable=no"])
    }
}
