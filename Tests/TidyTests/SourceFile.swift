import Glibc

/// A file of the project as the rules see it.
struct SourceFile: Sendable {
    /// Relative to the root of the project.
    let path: String
    /// Its bytes as text, wrong bytes replaced.
    let text: String
    /// Whether its owner may execute it.
    let isExecutable: Bool
    /// The lines of `text`, without their ends.
    let lines: [Substring]
    /// The lines with comments and the inside of strings blanked: what the compiler acts on.
    let code: [Substring]

    init(path: String, text: String, isExecutable: Bool = false) {
        self.path = path
        self.text = text
        self.isExecutable = isExecutable
        lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        code = CodeOnly.text(of: text).split(separator: "\n", omittingEmptySubsequences: false)
    }

    var isSwift: Bool { path.hasSuffix(".swift") }
    var isC: Bool { path.hasSuffix(".c") || path.hasSuffix(".h") }
    var isMarkdown: Bool { path.hasSuffix(".md") }
    var isCode: Bool { isSwift || isC }

    /// Whether it lies under one of these folders.
    func isUnder(_ folders: String...) -> Bool { folders.contains { path.hasPrefix($0 + "/") } }

    /// The module whose source it is; `nil` outside `Sources`.
    var module: String? {
        let parts = path.split(separator: "/")
        guard parts.count > 2, parts[0] == "Sources" else { return nil }
        return String(parts[1])
    }
}

/// What a rule has against a line.
struct Finding: Hashable, Sendable, CustomStringConvertible {
    let rule: String
    let path: String
    /// Counted from 1; 0 is the file as a whole.
    let line: Int
    let message: String

    var description: String { "\(path):\(line): \(message)" }
}

/// The files of the checkout these tests were built from.
enum Checkout {
    /// The folder with `Package.swift`.
    static let root: String = {
        var parts = #filePath.split(separator: "/")
        parts.removeLast(3)
        return "/" + parts.joined(separator: "/")
    }()

    /// Every text file of the project. What is built, and what the version control keeps, is not.
    static let files: [SourceFile] = {
        var found: [SourceFile] = []
        for name in entries(of: root) where !skipped.contains(name) { gather(name, into: &found) }
        return found.sorted { $0.path < $1.path }
    }()

    private static let skipped: Set<String> = [".git", ".build", "build", ".swiftpm"]

    private static func gather(_ path: String, into found: inout [SourceFile]) {
        var status = stat()
        guard unsafe lstat(root + "/" + path, &status) == 0 else { return }
        switch status.st_mode & S_IFMT {
        case S_IFDIR:
            guard !path.hasSuffix("/.build") else { return }
            for name in entries(of: root + "/" + path) { gather(path + "/" + name, into: &found) }
        case S_IFREG where status.st_size < 1 << 20:
            guard let text = read(root + "/" + path) else { return }
            let isExecutable = status.st_mode & S_IXUSR != 0
            found.append(SourceFile(path: path, text: text, isExecutable: isExecutable))
        default: return
        }
    }

    private static func entries(of directory: String) -> [String] {
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

    /// `nil` for what cannot be read, and for what holds a zero byte: not text.
    private static func read(_ path: String) -> String? {
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 64 << 10)
        while true {
            let count = unsafe Glibc.read(descriptor, &chunk, chunk.count)
            guard count > 0 else { break }
            bytes += chunk[..<count]
        }
        guard !bytes.contains(0) else { return nil }
        return String(decoding: bytes, as: UTF8.self)
    }
}
