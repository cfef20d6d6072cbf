import Glibc

extension ProjectDirectories {
    /// How many other projects are looked at.
    static let othersLimit = 1_000

    /// The control sockets of this user's other projects in the same runtime directory, in the
    /// order of their names, at most `othersLimit`. Whether anybody answers there is not known.
    public func otherControlSockets() -> [String] {
        let directory = runtime.split(separator: "/").dropLast().reduce("") { $0 + "/" + $1 }
        // SAFETY: the stream is ours and closed once; an entry lives until the next is read, and
        // its name, which ends with a zero, is copied before.
        guard let list = unsafe opendir(directory) else { return [] }
        defer { unsafe closedir(list) }
        var names: [String] = []
        while names.count < Self.othersLimit, let entry = unsafe readdir(list) {
            let name = unsafe withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
                unsafe String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            if !name.hasPrefix("."), name != identity.id { names.append(name) }
        }
        return names.sorted().map { "\(directory)/\($0)/control/socket" }
    }
}
