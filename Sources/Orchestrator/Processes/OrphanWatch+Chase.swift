import CProcess
import Glibc

/// Where the kernel lists no children.
extension OrphanWatch {
    /// SIGKILL to those of `isOwn` among the newest processes, until a few looks in a row meet
    /// nobody: a chain of forks is faster than a reading of all of /proc. Returns as `killRound`.
    func chase(_ isOwn: (Owner) -> Bool, _ progress: inout KillProgress) -> Bool {
        var isNew = false
        var inVain = 0
        for _ in 0..<KillProgress.mostLooks where inVain < KillProgress.mostLooksInVain {
            inVain += 1
            for pid in ProcessFiles.newest() {
                guard let found = ProcessFiles.stat(of: pid), !found.isDead,
                    progress.hit[pid] != found.start_time, let owner = ancestry(of: pid),
                    isOwn(owner)
                else { continue }
                progress.hit[pid] = found.start_time
                isNew = true
                inVain = 0
                signalStranger(pid, startTime: found.start_time, SIGKILL)
            }
        }
        return isNew
    }

    /// Whose a process is that is a child of ours, or a few generations away from one.
    private func ancestry(of pid: Int32) -> Owner? {
        let own = cproc_self()
        var at = pid
        for _ in 0..<4 {
            if let token = launched[at] { return .tree(token) }
            guard let stat = ProcessFiles.stat(of: at), stat.parent > 1 else { return nil }
            if stat.parent == own { return spawner.isUnclaimed(at) ? nil : newOwner(of: at) }
            at = stat.parent
        }
        return nil
    }
}
