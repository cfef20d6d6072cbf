import Glibc

/// What this machine lets the tests do.
enum Privileges {
    static let isRoot = geteuid() == 0

    /// The start of a command line that runs the rest as process 1 of a namespace.
    static var unshare: [String] {
        let drop = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
        let flags = ["/usr/bin/unshare", "--pid", "--fork", "--mount-proc", "--kill-child"]
        return isRoot
            ? flags + ["/usr/bin/env"] + drop : flags + ["--user", "--map-root-user"]
    }

    /// Root starts the namespace and leaves its privileges inside.
    static func unshareIdentity(_ ordinary: Identity) -> Identity {
        isRoot ? Identity(user: nil, group: nil, programs: ordinary.programs) : ordinary
    }

    /// Whether such a namespace can be made here.
    static let canUnshare: Bool = runs(unshare + ["true"])

    /// Whether a file system of our own can be mounted here.
    static let canMount = isRoot && runs(["/usr/bin/unshare", "--mount", "true"])

    /// Whether the program of systemd's own client is there.
    static let hasSystemdNotify = unsafe access("/usr/bin/systemd-notify", X_OK) == 0

    private static func runs(_ command: [String]) -> Bool {
        var child = pid_t()
        let started = unsafe CStrings.with(command) { arguments in
            unsafe posix_spawn(&child, command[0], nil, nil, arguments, environ) == 0
        }
        var status: CInt = 0
        guard started, unsafe waitpid(child, &status, 0) == child else { return false }
        return status == 0
    }
}

extension Bench {
    /// A process that has nothing to do with the project and must outlive the case's trouble.
    func bystander() throws -> Program {
        var launch = Launch(["/bin/sleep", "300"])
        launch.isOurs = false
        return try start(launch)
    }
}
