import Glibc

/// A program to run as a service: how it is started, and how it says that it can be used.
///
/// ```swift
/// var command = ProcessCommand(["/usr/libexec/thumbnailer", "--threads", "2"], ready: .notify)
/// command.environment["CACHE"] = "/var/cache/thumbs"
/// ```
public struct ProcessCommand: Hashable, Sendable {
    /// The argument vector. The first is looked up in the PATH of its environment unless it has a
    /// slash. No shell reads it.
    public var arguments: [String]
    /// When it can be used.
    public var ready: Readiness
    /// Variables it gets, beside those it inherits.
    public var environment: [String: String] = [:]
    /// The variables of ours that it inherits, where we have them. What a program may see is what
    /// it was given: everything else stays here.
    public var inherits: Set<String> = ["PATH", "HOME", "USER", "LANG", "TZ", "TMPDIR"]
    /// Where it starts; `nil` for our own directory.
    public var workingDirectory: String?
    /// Where its standard output and error go.
    public var output = Output.inherited
    /// Whether it has a control channel (`ORCHESTRATOR_FD`): a program that links `CLifecycle` or
    /// `ServiceKit` is then asked to stop by a message with reason and deadline, and the signal
    /// follows only if it does not answer, or shortly before the end.
    public var hasControlChannel = false
    /// The signal that asks it to stop; default SIGTERM. It goes to its process group.
    public var stopSignal = SIGTERM
    /// The signal it gets when *this* program dies without stopping it; `nil` for none. Default
    /// SIGTERM.
    public var deathSignal: Int32? = SIGTERM

    /// When a program can be used.
    public enum Readiness: Hashable, Sendable {
        /// As soon as it runs.
        case started
        /// When it says `READY=1` on its notify socket, as `sd_notify(3)` describes, or on its
        /// control channel.
        case notify
    }

    /// Where output goes.
    public enum Output: Hashable, Sendable {
        /// Where ours goes.
        case inherited
        /// Nowhere.
        case discarded
    }

    /// - Parameters:
    ///   - arguments: The argument vector; not empty.
    ///   - ready: When it can be used. There is no default: to wait for nothing has to be said.
    public init(_ arguments: [String], ready: Readiness) {
        self.arguments = arguments
        self.ready = ready
    }

    /// `NAME=value`, each.
    var variables: [String] {
        // SAFETY: each text is copied at once, before anything here changes the environment.
        var all: [String: String] = [:]
        for name in inherits {
            if let value = unsafe getenv(name) { all[name] = unsafe String(cString: value) }
        }
        all.merge(environment) { $1 }
        return all.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }
    }
}
