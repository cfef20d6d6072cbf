import CProcess
import EventLoop

/// A main process that a message named: a member of the tree, not our launch.
final class AdoptedMain {
    let pid: Int32
    /// With the pid it names this process for good.
    let startTime: UInt64
    private let pidfd: OwnedDescriptor
    private var watch: Watch?

    /// `nil`: it is gone, or it cannot be watched.
    init?(_ pid: Int32, loop: Loop, onExit: @escaping () -> Void) {
        let opened = cproc_pidfd_open(pid)
        guard opened >= 0 else { return nil }
        self.pid = pid
        pidfd = OwnedDescriptor(owning: opened)
        guard let stat = ProcessFiles.stat(of: pid) else { return nil }
        startTime = stat.start_time
        do throws(UVError) {
            watch = try Watch(loop, descriptor: opened, interest: .readable) { _ in onExit() }
        } catch {
            return nil
        }
    }

    /// Whether the number still means this process, and it runs.
    var isAlive: Bool {
        guard let stat = ProcessFiles.stat(of: pid) else { return false }
        return stat.start_time == startTime && !stat.isDead
    }

    func signal(_ number: Int32) { _ = cproc_pidfd_signal(pidfd.number, number) }

    func close() {
        watch?.close()
        watch = nil
    }

    deinit { close() }
}
