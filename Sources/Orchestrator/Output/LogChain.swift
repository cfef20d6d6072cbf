import Stoic

internal import Glibc

/// The names of a log and its rotated files, and the one way they move.
struct LogChain {
    /// The log itself, links resolved.
    let target: String

    /// No more rotated files than this are looked for.
    static let longest = 1000

    /// The rotated file with this number: 1 is the latest, 0 is the log itself.
    func file(_ number: Int) -> String { number == 0 ? target : "\(target).\(number)" }

    /// Moves every file one number up, so that the log's own name is free; files beyond `kept` go.
    ///
    /// The index moves first: a reader that finds a log without its index looks again.
    /// - Returns: why an older file could not be moved. It was overwritten by the next newer one,
    /// or
    ///   stays where it is in the way of nothing.
    /// - Throws: why the log itself could not be moved; it and its index are where they were.
    func rotate(keeping kept: Int) throws(SystemError) -> SystemError? {
        guard kept > 0 else {
            try FileCalls.remove(LogIndex.path(of: target))
            try FileCalls.remove(target)
            return nil
        }
        guard try FileCalls.facts(at: file(1))?.kind != .directory else {
            throw SystemError("rename", target, code: EISDIR)
        }
        var obstacle: SystemError?
        for number in stride(from: kept - 1, to: 0, by: -1) {
            do { try move(number, to: number + 1) } catch { obstacle = error }
        }
        try move(0, to: 1)
        do { try removeBeyond(kept) } catch { obstacle = error }
        return obstacle
    }

    private func move(_ old: Int, to new: Int) throws(SystemError) {
        let facts = try FileCalls.facts(at: file(old))
        guard let facts else { return }
        guard facts.kind == .regular else { throw SystemError("rename", file(old), code: EISDIR) }
        let oldIndex = LogIndex.path(of: file(old))
        let newIndex = LogIndex.path(of: file(new))
        let hasIndex = try FileCalls.facts(at: oldIndex) != nil
        if hasIndex {
            try FileCalls.rename(oldIndex, to: newIndex)
        } else {
            try FileCalls.remove(newIndex)
        }
        do { try FileCalls.rename(file(old), to: file(new)) } catch {
            if hasIndex { try FileCalls.rename(newIndex, to: oldIndex) }
            throw error
        }
    }

    /// Files of a time when more were kept.
    private func removeBeyond(_ kept: Int) throws(SystemError) {
        var number = kept + 1
        while number <= Self.longest, try FileCalls.facts(at: file(number))?.kind == .regular {
            try FileCalls.remove(file(number))
            try FileCalls.remove(LogIndex.path(of: file(number)))
            number += 1
        }
    }
}
