import Glibc

/// What makes two commands mean the same project: the real path of the directory that was named
/// plus the file name as given, or `name:` of the config.
///
/// The directory is resolved and the file is not: a config behind a link that a deployment swaps
/// keeps its identity, while the same directory reached through two links is one project.
public struct ProjectIdentity: Hashable, Sendable, CustomStringConvertible {
    /// Names the project in paths: a readable part of at most 24 bytes out of `a-z 0-9 _ -`, a
    /// dash, and 16 hexadecimal digits that depend on the whole identity.
    public let id: String
    /// Where the identity comes from.
    public let origin: Origin

    /// Where an identity comes from.
    public enum Origin: Hashable, Sendable {
        /// The directory's real path, and the file's name in it.
        case file(directory: String, name: String)
        /// `name:` of the config.
        case named(String)
    }

    /// Identifies the project of a config.
    ///
    /// - Parameters:
    ///   - file: The config as the user named it, absolute or relative to the working directory.
    ///     Its directory has to exist; the file itself is not looked at.
    ///   - name: `name:` of the config, if given; it wins.
    /// - Throws: `.badName` for an empty name or one that ends in a directory, `.system` when the
    ///   directory cannot be resolved.
    public init(file: String, name: String? = nil) throws(ProjectError) {
        if let name {
            guard !name.isEmpty else { throw .badName(name, reason: "the name is empty") }
            self.init(.named(name))
        } else {
            self.init(try Self.origin(of: file))
        }
    }

    private init(_ origin: Origin) {
        self.origin = origin
        let readable: Substring
        let hashed: String
        switch origin {
        case .file(let directory, let name):
            // The directory says more than "orchestrator.yaml"; in "/" only the file is left.
            readable = directory.split(separator: "/").last ?? Substring(name)
            hashed = "file\0\(directory)\0\(name)"
        case .named(let name):
            readable = Substring(name)
            hashed = "name\0\(name)"
        }
        id = "\(Self.sanitized(readable))-\(FNVHash(of: hashed.utf8).hexadecimal)"
    }

    private static func origin(of file: String) throws(ProjectError) -> Origin {
        let parts = file.split(separator: "/", omittingEmptySubsequences: false)
        guard let last = parts.last, !last.isEmpty, last != ".", last != ".." else {
            throw .badName(file, reason: "it names a directory and no file")
        }
        var directory = parts.dropLast().joined(separator: "/")
        if directory.isEmpty { directory = file.hasPrefix("/") ? "/" : "." }
        // SAFETY: the text is allocated for us, copied, and freed once.
        guard let resolved = unsafe realpath(directory, nil) else {
            throw .system(
                doing: "find the directory of the config \(file)", .latest("realpath", directory))
        }
        defer { unsafe free(resolved) }
        return .file(directory: unsafe String(cString: resolved), name: String(last))
    }

    /// At most 24 bytes that are safe in any path, in any shell and in a `curl` command line.
    private static func sanitized(_ text: Substring) -> String {
        let safe = text.utf8.prefix(24).map { (byte: UInt8) -> Character in
            switch byte {
            case UInt8(ascii: "A")...UInt8(ascii: "Z"):
                Character(UnicodeScalar(byte | 0x20))
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"),
                UInt8(ascii: "_"):
                Character(UnicodeScalar(byte))
            default: "-"
            }
        }
        return safe.isEmpty ? "project" : String(safe)
    }

    public var description: String {
        switch origin {
        case .file(let directory, let name): directory == "/" ? "/\(name)" : "\(directory)/\(name)"
        case .named(let name): name
        }
    }
}

/// The 64-bit FNV-1a hash (Fowler, Noll, Vo): the same on every machine and in every run, which
/// `Hasher` is not. It keeps honest names apart; it is no defence against forged ones.
struct FNVHash {
    /// The hash.
    let value: UInt64

    /// Hashes bytes in order.
    init(of bytes: some Sequence<UInt8>) {
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325
        for byte in bytes { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
        value = hash
    }

    /// All 16 hexadecimal digits.
    var hexadecimal: String {
        let digits = String(value, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }
}
