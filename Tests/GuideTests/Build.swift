import Glibc

/// The checkout these tests were built from, and where the build put its modules.
enum Build {
    /// The folder with `Package.swift`.
    static let root: String = {
        var parts = #filePath.split(separator: "/")
        parts.removeLast(3)
        return "/" + parts.joined(separator: "/")
    }()

    /// The directory of the build: that of the test bundle.
    static let directory: String = {
        var buffer = [UInt8](repeating: 0, count: 4_096)
        let count = unsafe readlink("/proc/self/exe", &buffer, buffer.count)
        let path = String(decoding: buffer.prefix(max(count, 0)), as: UTF8.self)
        return path.split(separator: "/").dropLast().reduce("") { $0 + "/" + $1 }
    }()

    /// The Swift modules of the build.
    static let modules = directory + "/Modules"

    /// How the compiler finds the C modules behind them.
    static var moduleMaps: [String] {
        var generated: [String] = []
        for name in names(in: directory) where name.hasSuffix(".build") {
            let path = "\(directory)/\(name)/module.modulemap"
            if unsafe access(path, R_OK) == 0 { generated.append(path) }
        }
        let folders = names(in: root + "/CShims").flatMap { name in
            ["\(root)/CShims/\(name)", "\(root)/CShims/\(name)/include"]
        }
        return folders.flatMap { ["-Xcc", "-I\($0)"] }
            + generated.flatMap { ["-Xcc", "-fmodule-map-file=\($0)"] }
    }

    /// The text files below a folder of the checkout that end like this.
    static func files(under folder: String, endingWith suffix: String) -> [String] {
        names(in: "\(root)/\(folder)").flatMap { name -> [String] in
            let path = "\(folder)/\(name)"
            var status = stat()
            guard unsafe stat("\(root)/\(path)", &status) == 0 else { return [] }
            if status.st_mode & S_IFMT == S_IFDIR { return files(under: path, endingWith: suffix) }
            return name.hasSuffix(suffix) ? [path] : []
        }
    }

    static func names(in directory: String) -> [String] {
        guard let stream = unsafe opendir(directory) else { return [] }
        defer { unsafe closedir(stream) }
        var names: [String] = []
        while let entry = unsafe readdir(stream) {
            let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) {
                unsafe $0.withMemoryRebound(to: CChar.self, capacity: 256) {
                    unsafe String(cString: $0)
                }
            }
            if name != "." && name != ".." { names.append(name) }
        }
        return names.sorted()
    }

    /// The text of a file.
    static func read(_ path: String) throws -> String {
        let file = unsafe open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else {
            throw SwiftCompiler.Failure(description: "cannot read \(path): error \(errno)")
        }
        defer { close(file) }
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 64 << 10)
        while true {
            let count = unsafe Glibc.read(file, &chunk, chunk.count)
            guard count > 0 else { break }
            bytes += chunk[..<count]
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
