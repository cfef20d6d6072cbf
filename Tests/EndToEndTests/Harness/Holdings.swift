import Glibc

/// What a process holds that nobody gives back by itself.
struct Holdings: CustomStringConvertible {
    /// Open descriptors.
    let descriptors: Int
    /// Children, zombies too.
    let children: Int
    let zombies: Int
    let threads: Int
    /// Memory of its own that is in use.
    let kilobytes: Int

    init(of pid: pid_t) {
        let family = ProcessTable.children(of: pid)
        descriptors = ProcessTable.descriptorCount(of: pid)
        children = family.count
        zombies = family.count { $0.state == "Z" }
        threads = TextFile.names(in: "/proc/\(pid)/task").count
        kilobytes = ProcessTable.residentKilobytes(of: pid)
    }

    /// What there is more of than there was, in words; memory only beyond `spare` kilobytes.
    func excess(over before: Holdings, spare: Int) -> [String] {
        [
            ("descriptors", descriptors, before.descriptors),
            ("children", children, before.children), ("zombies", zombies, before.zombies),
            ("threads", threads, before.threads),
            ("kilobytes", kilobytes, before.kilobytes + spare),
        ].compactMap { name, now, then in now > then ? "\(name): \(now) after \(then)" : nil }
    }

    var description: String {
        "\(descriptors) descriptors, \(children) children, \(zombies) zombies, \(threads) threads, "
            + "\(kilobytes) KiB"
    }
}
