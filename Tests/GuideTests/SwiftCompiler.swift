import Glibc

/// The compiler of this toolchain, over files of our own and the modules of this build.
enum SwiftCompiler {
    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    /// What it says to these sources, compiled together as one module; empty if nothing is wrong.
    /// - Parameter sources: Their texts, by name.
    static func complaints(about sources: [(name: String, text: String)]) throws -> String {
        let directory = try scratch()
        defer { remove(directory) }
        var paths: [String] = []
        for (name, text) in sources {
            let path = "\(directory)/\(name)"
            try write(text, to: path)
            paths.append(path)
        }
        let log = directory + "/log"
        let arguments =
            [
                "swiftc", "-c", "-parse-as-library", "-whole-module-optimization", "-Onone",
                "-swift-version", "6", "-suppress-warnings", "-module-name", "Examples",
                "-o", directory + "/examples.o", "-I", Build.modules,
                "-module-cache-path", Build.directory + "/ModuleCache",
            ] + Build.moduleMaps + paths
        let status = try run(arguments, output: log)
        guard status != 0 else { return "" }
        return try Build.read(log)
    }

    /// Runs a program with both outputs in a file, at most ten minutes.
    private static func run(_ arguments: [String], output: String) throws -> Int32 {
        let file = unsafe open(output, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw Failure(description: "cannot write \(output)") }
        defer { close(file) }
        var actions = unsafe posix_spawn_file_actions_t()
        unsafe posix_spawn_file_actions_init(&actions)
        defer { unsafe posix_spawn_file_actions_destroy(&actions) }
        for target in [1 as Int32, 2] {
            unsafe posix_spawn_file_actions_adddup2(&actions, file, target)
        }
        var pointers = unsafe arguments.map { unsafe strdup($0) }
        unsafe pointers.append(nil)
        defer { unsafe pointers.forEach { unsafe free($0) } }
        var child = pid_t()
        let result = unsafe posix_spawnp(&child, arguments[0], &actions, nil, pointers, environ)
        guard result == 0 else {
            throw Failure(description: "cannot run \(arguments[0]): error \(result)")
        }
        var status: Int32 = 0
        while unsafe waitpid(child, &status, 0) < 0 {
            guard errno == EINTR else { throw Failure(description: "cannot wait for swiftc") }
        }
        return status
    }

    private static func scratch() throws -> String {
        var template = Array("/tmp/examples-XXXXXX".utf8CString)
        let isMade = unsafe template.withUnsafeMutableBufferPointer { buffer in
            guard let start = buffer.baseAddress else { return false }
            return unsafe mkdtemp(start) != nil
        }
        guard isMade else { throw Failure(description: "cannot make a directory") }
        return String(
            decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    private static func write(_ text: String, to path: String) throws {
        let file = unsafe open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw Failure(description: "cannot write \(path)") }
        defer { close(file) }
        let bytes = Array(text.utf8)
        guard unsafe Glibc.write(file, bytes, bytes.count) == bytes.count else {
            throw Failure(description: "cannot write \(path)")
        }
    }

    private static func remove(_ directory: String) {
        for name in Build.names(in: directory) { unsafe unlink("\(directory)/\(name)") }
        unsafe rmdir(directory)
    }
}
