import CProcess
import Glibc

/// What /proc says about processes and their children.
struct ProcessFiles {
    /// Whether the kernel keeps lists of children; else all of /proc is read for them.
    let listsChildren: Bool

    static func stat(of pid: Int32) -> cproc_stat? {
        var stat = cproc_stat()
        // SAFETY: the call fills a variable of the size it expects, and keeps no pointer.
        return unsafe cproc_read_stat(pid, &stat) == 0 ? stat : nil
    }

    /// Now, on the clock and in the unit of `start_time`.
    static var ticksSinceBoot: UInt64 {
        let perSecond = UInt64(max(sysconf(CInt(_SC_CLK_TCK)), 1))
        return UInt64(max(cproc_clock(CLOCK_BOOTTIME), 0)) / (1_000_000_000 / perSecond)
    }

    static func command(of pid: Int32) -> String {
        // SAFETY: it writes a text with its zero within the room that is told.
        unsafe text(capacity: 256) { unsafe cproc_read_command(pid, $0, $1) == 0 } ?? "[gone]"
    }

    /// The token in its unused limit, if it has one.
    static func token(of pid: Int32) -> UInt64? {
        var token: UInt64 = 0
        // SAFETY: the call fills a variable of the size it expects, and keeps no pointer.
        return unsafe cproc_read_token(pid, &token) == 0 ? token : nil
    }

    /// The token in its environment: only a hint, which it can have changed or lost.
    static func marker(of pid: Int32) -> UInt64? {
        // SAFETY: it writes a text with its zero within the room that is told; the name is a
        // constant.
        unsafe text(capacity: 64) {
            unsafe cproc_read_variable(pid, ProcessTree.markerName, $0, $1) == 0
        }.flatMap { UInt64($0) }
    }

    /// Its cgroup2, as a path in our view.
    static func cgroup(of pid: Int32) -> String? {
        guard let bytes = smallFile("/proc/\(pid)/cgroup", atMost: 8192) else { return nil }
        for line in String(decoding: bytes, as: UTF8.self).split(separator: "\n")
        where line.hasPrefix("0::") {
            return String(line.dropFirst(3))
        }
        return nil
    }

    /// The children of our main thread, dead ones too. Without lists: all children of ours but
    /// `launched`, which are the threads'.
    func adopted(besides launched: (Int32) -> Bool) -> [Int32] {
        let own = cproc_self()
        // SAFETY: it writes at most as many numbers as there is room for.
        if listsChildren {
            return unsafe Self.numbers { unsafe cproc_thread_children(own, $0, $1) }
        }
        return parents().filter { $0.value == own && !launched($0.key) }.map(\.key)
    }

    /// All that descend from `roots`, without them, each after its parent. A process that forks
    /// meanwhile may be missed: look again until nothing is new.
    func descendants(of roots: [Int32]) -> [Int32] {
        var children: [Int32: [Int32]] = [:]
        if !listsChildren {
            for (child, parent) in parents() { children[parent, default: []].append(child) }
        }
        var seen = Set(roots)
        var queue = roots
        var next = 0
        while next < queue.count {
            let parent = queue[next]
            next += 1
            // SAFETY: it writes at most as many numbers as there is room for.
            let found =
                listsChildren
                ? unsafe Self.numbers { unsafe cproc_children(parent, $0, $1) }
                : children[parent] ?? []
            queue += found.filter { seen.insert($0).inserted }
        }
        return Array(queue.dropFirst(roots.count))
    }

    /// Every process there is.
    static func all() -> [Int32] {
        // SAFETY: it writes at most as many numbers as there is room for.
        unsafe numbers { unsafe cproc_all_processes($0, $1) }
    }

    /// The numbers given out last, the newest first. All of /proc takes longer to read than a chain
    /// of forks lives at one number, but its living member is always among these.
    static func newest() -> [Int32] {
        guard let bytes = smallFile("/proc/loadavg", atMost: 128),
            let word = String(decoding: bytes, as: UTF8.self).split(whereSeparator: \.isWhitespace)
                .last, let last = Int32(word)
        else { return [] }
        return (0..<8).map { last - $0 }.filter { $0 > 1 }
    }

    private func parents() -> [Int32: Int32] {
        var parents: [Int32: Int32] = [:]
        for pid in Self.all() {
            if let stat = Self.stat(of: pid) { parents[pid] = stat.parent }
        }
        return parents
    }

    /// Calls `read` until the list fits. There are never more processes than pids.
    private static func numbers(
        _ read: (UnsafeMutablePointer<Int32>, Int) -> Int
    ) -> [Int32] {
        var capacity = 64
        while capacity <= 1 << 23 {
            var count = 0
            // SAFETY: `read` writes at most `capacity` numbers; as many are said to be there,
            // though it may have more.
            let list = unsafe [Int32](unsafeUninitializedCapacity: capacity) { buffer, used in
                guard let base = buffer.baseAddress else { return }
                count = unsafe read(base, capacity)
                used = min(max(count, 0), capacity)
            }
            if count <= capacity { return list }
            capacity = count + 64
        }
        return []
    }

    private static func text(
        capacity: Int, _ read: (UnsafeMutablePointer<CChar>, Int) -> Bool
    ) -> String? {
        // SAFETY: `read` writes a text with its zero within the room that is told; it is copied in
        // the closure.
        unsafe withUnsafeTemporaryAllocation(of: CChar.self, capacity: capacity) { buffer in
            guard let base = buffer.baseAddress, unsafe read(base, capacity) else { return nil }
            return unsafe String(cString: base)
        }
    }
}
