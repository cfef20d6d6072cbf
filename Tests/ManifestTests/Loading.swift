import Glibc
import Manifest
import Stoic
import Testing

/// Loads YAML under the name `orchestrator.yaml` in a directory that is not there.
func load(
    _ text: String, file: String = "/project/orchestrator.yaml",
    environment: [String: String] = [:]
) throws(ConfigError) -> ProjectDefinition {
    try loadProject(text: Array(text.utf8), file: file, environment: environment).project
}

/// Every problem of a config, one a line, without its file's directory.
func problems(
    _ text: String, file: String = "/project/o.yaml", environment: [String: String] = [:]
) -> String {
    problems(Array(text.utf8), file: file, environment: environment)
}

/// As for text.
func problems(
    _ text: [UInt8], file: String = "/project/o.yaml", environment: [String: String] = [:]
) -> String {
    let found: [Diagnostic]
    do throws(ConfigError) {
        found = try loadProject(text: text, file: file, environment: environment).warnings
    } catch {
        found = error.diagnostics
    }
    return found.map { String($0.description.dropFirst("/project/".count)) }
        .joined(separator: "\n")
}

extension ProjectDefinition {
    /// The service of a name; fails the test if there is none.
    func service(_ name: String) throws -> ServiceDefinition {
        try #require(services.first { $0.spec.name.text == name })
    }
}

extension ServiceDefinition {
    /// The value its environment sets for a variable; the last wins.
    func variable(_ name: String) -> String? {
        var value: String?
        for case .set(name, let template) in launch.environment {
            value = template.resolved { _, _ in nil }
        }
        return value
    }
}

/// A config of one service `a` with these keys beside its command.
func one(_ keys: String) -> String {
    let lines = keys.split(separator: "\n", omittingEmptySubsequences: false)
    return "services:\n  a:\n    command: [true]\n" + lines.map { "    \($0)\n" }.joined()
}

/// The problems of `one(keys)`, without file and line.
func problemsOfOne(_ keys: String, environment: [String: String] = [:]) -> String {
    problems(one(keys), environment: environment)
        .split(separator: "\n").map { line in
            line.drop { $0 != " " }.dropFirst()
        }.joined(separator: "\n")
}

/// A directory of its own for `body`, removed with its files afterwards.
func withDirectory<Result>(_ body: (String) throws -> Result) throws -> Result {
    var template = Array("/tmp/manifest-tests-XXXXXX".utf8CString)
    let made = unsafe mkdtemp(&template)
    try unsafe #require(made != nil)
    let path = String(
        decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    defer { removeTree(path) }
    return try body(path)
}

private func removeTree(_ path: String) {
    guard let directory = unsafe opendir(path) else { return }
    while let entry = unsafe readdir(directory) {
        let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) { tuple in
            unsafe tuple.withMemoryRebound(to: CChar.self, capacity: 256) { bytes in
                unsafe String(cString: bytes)
            }
        }
        guard name != ".", name != ".." else { continue }
        if unsafe unlink("\(path)/\(name)") != 0 { removeTree("\(path)/\(name)") }
    }
    unsafe closedir(directory)
    unsafe rmdir(path)
}

/// Writes a file anew.
func write(_ text: String, to path: String) throws {
    let descriptor = unsafe open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
    try #require(descriptor >= 0)
    defer { close(descriptor) }
    let bytes = Array(text.utf8)
    try unsafe #require(Glibc.write(descriptor, bytes, bytes.count) == bytes.count)
}
