internal import EventLoop
import Glibc
import Stoic

/// Tells when a file is removed from its directory, or the directory itself: cleaners of temporary
/// directories do that to engines that run for weeks. Costs one descriptor (inotify) and no time.
final class SocketGuard {
    private let descriptor: CInt
    private var watch: Watch?

    /// - Parameter react: runs on the loop's thread when something was removed; maybe another file.
    init(
        _ loop: Loop, directory: String, _ react: @escaping () -> Void
    ) throws(SystemError) {
        descriptor = inotify_init1(CInt(IN_NONBLOCK | IN_CLOEXEC))
        guard descriptor >= 0 else { throw .latest("inotify_init1", directory) }
        let ofFiles = UInt32(IN_DELETE) | UInt32(IN_MOVED_FROM)
        let ofDirectory = UInt32(IN_DELETE_SELF) | UInt32(IN_MOVE_SELF) | UInt32(IN_ONLYDIR)
        // SAFETY: the path is a text of ours, which lives through the call.
        guard unsafe inotify_add_watch(descriptor, directory, ofFiles | ofDirectory) >= 0 else {
            throw .latest("inotify_add_watch", directory)
        }
        do {
            watch = try Watch(loop, descriptor: descriptor, interest: .readable) { [weak self] _ in
                self?.drain()
                react()
            }
        } catch { throw SystemError(error.call, directory, code: -error.code) }
    }

    deinit {
        watch?.close()
        if descriptor >= 0 { close(descriptor) }
    }

    /// What happened in detail does not matter: the owner looks whether its file is still there.
    /// What does not fit is read in the next turn.
    private func drain() {
        var buffer = [UInt8](repeating: 0, count: 4096)
        // SAFETY: the call is told how much room the array has.
        _ = unsafe read(descriptor, &buffer, buffer.count)
    }
}
