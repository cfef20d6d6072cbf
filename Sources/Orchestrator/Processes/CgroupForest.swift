import CProcess
public import EventLoop
import Glibc

/// A project's own part of the cgroup2 tree, below the cgroup this process is in: one leaf for each
/// service, made before its first launch and reused by later ones. No controller is needed.
///
/// A leaf that was killed is made anew for the next launch: some kernels (6.18 is one) kill at
/// birth whoever is cloned into a cgroup that `cgroup.kill` was ever used on.
///
/// A leaf is the surest answer to "whose process is it?": nothing leaves it by itself but root.
public final class CgroupForest {
    /// The directory of the project's part.
    fileprivate let directory: String
    /// The same, as /proc/PID/cgroup words it.
    fileprivate let path: String
    private var leaves: [String: CgroupLeaf] = [:]

    private init(directory: String, path: String) {
        self.directory = directory
        self.path = path
    }

    /// The part of `project` (a name for a directory: no slash), made now or left by an earlier
    /// engine. `nil` where there is no cgroup2 tree that we may write to.
    public static func plant(project: String) -> CgroupForest? {
        guard let place = Self.ownPlace(), !project.isEmpty, !project.contains("/")
        else { return nil }
        let name = "orchestrator-\(project)"
        let directory = "\(place.directory)/\(name)"
        // SAFETY: the paths are texts of ours, which live through their calls.
        guard unsafe mkdir(directory, 0o755) == 0 || errno == EEXIST else { return nil }
        guard unsafe access("\(directory)/cgroup.events", R_OK) == 0,
            unsafe access("\(directory)/cgroup.procs", W_OK) == 0
        else {
            unsafe rmdir(directory)
            return nil
        }
        let base = place.path == "/" ? "" : place.path
        return CgroupForest(directory: directory, path: "\(base)/\(name)")
    }

    /// The leaf with this name (no slash), the same one each time unless it was killed: ask before
    /// each launch. `nil`: it cannot be made.
    public func leaf(named name: String) -> CgroupLeaf? {
        if let leaf = leaves[name], !leaf.isSpent || leaf.isPopulated { return leaf }
        guard !name.isEmpty, !name.contains("/"), !name.hasPrefix("cgroup.") else { return nil }
        let place = "\(directory)/\(name)"
        // SAFETY: the path is a text of ours, which lives through the call.
        // What is empty may be spent, by us or by an earlier engine.
        unsafe rmdir(place)
        guard unsafe mkdir(place, 0o755) == 0 || errno == EEXIST else { return nil }
        let opened = openDescriptor(place, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard let opened else { return nil }
        let events = openDescriptor("\(place)/cgroup.events", O_RDONLY | O_CLOEXEC)
        guard let events else {
            Glibc.close(opened)
            return nil
        }
        let leaf = CgroupLeaf(
            directory: OwnedDescriptor(owning: opened), events: OwnedDescriptor(owning: events),
            name: name, of: self)
        leaves[name] = leaf
        return leaf
    }

    /// Gives a leaf up that no launch uses any more; it stays while something lives in it.
    public func remove(leaf name: String) {
        leaves[name] = nil
        // SAFETY: the path is a text of ours, which lives through the call.
        unsafe rmdir("\(directory)/\(name)")
    }

    /// Removes every leaf that is empty, and the part itself if all are.
    public func close() {
        // SAFETY: the paths are texts of ours, which live through their calls.
        for name in leaves.keys { unsafe rmdir("\(directory)/\(name)") }
        leaves = [:]
        unsafe rmdir(directory)
    }

    /// Whether its directory is there.
    public var exists: Bool {
        // SAFETY: the path is a text of ours, which lives through the call.
        unsafe access(directory, F_OK) == 0
    }

    /// Where our own cgroup is mounted, and its path in our view.
    private static func ownPlace() -> (directory: String, path: String)? {
        guard let path = ProcessFiles.cgroup(of: cproc_self()), !path.hasPrefix("/.."),
            let mounts = smallFile("/proc/self/mountinfo", atMost: 1 << 20)
        else { return nil }
        for line in String(decoding: mounts, as: UTF8.self).split(separator: "\n") {
            if let directory = directory(of: path, mount: line) { return (directory, path) }
        }
        return nil
    }

    /// Where a cgroup is, if this line of mountinfo is of a cgroup2 that shows it.
    static func directory(of path: String, mount line: Substring) -> String? {
        let words = line.split(separator: " ")
        guard words.count > 6, let dash = words.firstIndex(of: "-"), dash + 1 < words.count,
            words[dash + 1] == "cgroup2"
        else { return nil }
        let root = decoded(words[3])
        let point = decoded(words[4])
        if root == "/" { return path == "/" ? point : point + path }
        guard path == root || path.hasPrefix(root + "/") else { return nil }
        return point + path.dropFirst(root.count)
    }

    /// The kernel writes blanks and backslashes in octal.
    private static func decoded(_ word: Substring) -> String {
        var bytes: [UInt8] = []
        var rest = Array(word.utf8)[...]
        while let byte = rest.popFirst() {
            let digits = rest.prefix(3)
            let text = String(decoding: digits, as: UTF8.self)
            if byte == UInt8(ascii: "\\"), digits.count == 3, let value = UInt8(text, radix: 8) {
                bytes.append(value)
                rest = rest.dropFirst(3)
            } else {
                bytes.append(byte)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}

/// A leaf of a project's cgroups.
public final class CgroupLeaf {
    /// What a launch request names to be born here.
    public let directory: OwnedDescriptor
    /// Its `cgroup.events`; a change is `Interest.priority`.
    let events: OwnedDescriptor
    private let name: String
    private let forest: CgroupForest
    /// Whether it was killed: then nobody may be born in it any more.
    private(set) var isSpent = false
    /// As /proc/PID/cgroup words it.
    var path: String { "\(forest.path)/\(name)" }

    init(
        directory: consuming OwnedDescriptor, events: consuming OwnedDescriptor,
        name: String, of forest: CgroupForest
    ) {
        self.directory = directory
        self.events = events
        self.name = name
        self.forest = forest
    }

    /// Whether anything lives in it or below; a dead main that is not reaped does not count.
    public var isPopulated: Bool {
        // SAFETY: the text ends with a zero within the room that is told, and is copied within the
        // closure.
        unsafe withUnsafeTemporaryAllocation(of: CChar.self, capacity: 256) { buffer in
            guard let base = buffer.baseAddress,
                unsafe cproc_read_at_start(events.number, base, 256) > 0
            else { return false }
            return unsafe String(cString: base).split(separator: "\n").contains("populated 1")
        }
    }

    /// SIGKILL to everything in it and below, forks under way included.
    func kill() {
        isSpent = true
        // SAFETY: both texts are constants.
        // ENOENT, before 5.14, leaves the work to the sweep over its members.
        _ = unsafe cproc_write_file(directory.number, "cgroup.kill", "1")
    }

    /// Whether a process is in it or below.
    func holds(_ pid: Int32) -> Bool {
        guard let place = ProcessFiles.cgroup(of: pid) else { return false }
        let path = self.path
        return place == path || place.hasPrefix(path + "/")
    }

    /// All in it and below.
    public func processes() -> [Int32] {
        Self.processes(in: "\(forest.directory)/\(name)", depth: 0)
    }

    private static func processes(in directory: String, depth: Int) -> [Int32] {
        guard depth < 32, let bytes = smallFile("\(directory)/cgroup.procs", atMost: 1 << 22)
        else { return [] }
        var found = String(decoding: bytes, as: UTF8.self).split(separator: "\n")
            .compactMap { Int32($0) }
        // SAFETY: the stream is ours and closed once; an entry lives until the next is read, and
        // its name, which ends with a zero, is copied before.
        guard let list = unsafe opendir(directory) else { return found }
        defer { unsafe closedir(list) }
        while let entry = unsafe readdir(list) {
            guard unsafe entry.pointee.d_type == UInt8(DT_DIR) else { continue }
            let name = unsafe withUnsafeBytes(of: &entry.pointee.d_name) {
                unsafe String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
            }
            if name != ".", name != ".." {
                found += processes(in: "\(directory)/\(name)", depth: depth + 1)
            }
        }
        return found
    }
}

private func openDescriptor(_ path: String, _ flags: CInt) -> CInt? {
    // SAFETY: the path is a text of ours, which lives through the call.
    let descriptor = unsafe Glibc.open(path, flags)
    return descriptor >= 0 ? descriptor : nil
}
