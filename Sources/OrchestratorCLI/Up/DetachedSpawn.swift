import Glibc
import Stoic
internal import Manifest

extension DetachedLaunch {
    /// Two connected descriptors, ours and the child's, neither of which anybody else inherits.
    final class Pair {
        let ours: CInt
        let theirs: CInt

        enum Kind { case socket, pipe }

        init(_ kind: Kind) throws(Failure) {
            // SAFETY: both calls write two numbers, and there is room for two.
            var ends: [CInt] = [-1, -1]
            let result =
                switch kind {
                case .socket:
                    unsafe socketpair(
                        AF_UNIX, CInt(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0, &ends)
                case .pipe: unsafe pipe(&ends)
                }
            guard result == 0 else {
                throw Failure(.defect, "cannot detach: \(SystemError.meaning(of: errno))")
            }
            (ours, theirs) = (ends[0], ends[1])
            // This program has one thread, so nothing is started between the two calls.
            for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
            // A stopped terminal must not stop the engine: what does not fit is lost.
            if kind == .pipe { _ = fcntl(theirs, F_SETFL, O_NONBLOCK) }
        }

        func closeOurs() { close(ours) }
        func closeTheirs() { close(theirs) }
    }

    /// Starts the child: stdin from nowhere, stdout and stderr into `output`, `report` as the
    /// descriptor it expects, in a session of its own, with our signals at their defaults.
    func spawn(report: CInt, output: CInt) throws(Failure) -> pid_t {
        // SAFETY: what is initialized here is destroyed here, each word is freed once, the list of
        // words ends with a null, and nothing of it is used after the call.
        var actions = unsafe posix_spawn_file_actions_t()
        unsafe posix_spawn_file_actions_init(&actions)
        defer { unsafe posix_spawn_file_actions_destroy(&actions) }
        unsafe posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0)
        unsafe posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO)
        unsafe posix_spawn_file_actions_adddup2(&actions, output, STDERR_FILENO)
        unsafe posix_spawn_file_actions_adddup2(
            &actions, report, DetachedChild.reportDescriptor)
        var attributes = posix_spawnattr_t()
        unsafe posix_spawnattr_init(&attributes)
        defer { unsafe posix_spawnattr_destroy(&attributes) }
        unsafe posix_spawnattr_setflags(&attributes, Self.newSession)
        var words = unsafe arguments.map { unsafe strdup($0) }
        unsafe words.append(nil)
        defer { unsafe words.forEach { unsafe free($0) } }
        var child: pid_t = 0
        let code = unsafe posix_spawn(
            &child, program, &actions, &attributes, words, environ)
        guard code == 0 else {
            throw Failure(
                .defect, "cannot start the background process: \(SystemError.meaning(of: code))")
        }
        return child
    }

    /// `POSIX_SPAWN_SETSID` of glibc 2.26, which the module map leaves out.
    private static var newSession: Int16 { 0x80 }
}

/// The name of a signal without `SIG`.
func signalText(_ number: Int32) -> String { signalName(number) }
