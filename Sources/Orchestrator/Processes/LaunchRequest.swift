import CProcess
public import EventLoop
public import Stoic

/// Everything about one launch. Nothing is inherited: the environment is exactly this one, signals
/// and mask are at their defaults, the session is new, stdin and whatever has no descriptor here is
/// /dev/null, and the limit of descriptors is the one this process was started with.
public struct LaunchRequest: Hashable, Sendable {
    /// The argument vector; the first is looked up in the PATH of `environment` unless it has a
    /// slash. A relative one starts from `workingDirectory`.
    public var arguments: [String]
    /// `NAME=value`, each.
    public var environment: [String]
    /// Variables whose value is the pid of the child (`LISTEN_PID`, `WATCHDOG_PID`); at most 4.
    public var pidVariables: [String] = []
    /// Where it starts; absolute. Entered as the service's user.
    public var workingDirectory: String
    /// Whom it runs as; `nil` is ours. Pipes among `descriptors` 1 and 2 are given to that user, so
    /// that /dev/stdout can be opened anew.
    public var identity: Identity?
    /// Its umask; `nil` is ours.
    public var umask: UInt32?
    /// Its nice value; `nil` is ours.
    public var nice: Int32?
    /// Its resource limits, at most 32.
    public var limits: [Limit] = []
    /// What it finds open, at most 128. Each source stays the caller's, who keeps it open until the
    /// outcome is known.
    public var descriptors: [Descriptor] = []
    /// The directory of a cgroup leaf it is born in. The caller keeps it open until the outcome.
    /// Where the kernel refuses, it is born where we are: see `LaunchedProcess.isInCgroup`.
    public var cgroup: CInt?
    /// Whether a refusal of the cgroup is a failure instead.
    public var insistsOnCgroup = false
    /// Marks every descendant (soft `RLIMIT_LOCKS`). Random, so that no two incarnations of any
    /// engine share one, and below `UInt64.max`.
    public var token: UInt64
    /// The signal it gets when this process dies; `nil`: none.
    public var deathSignal: Int32?

    /// A resource limit by number; `UInt64.max` is unlimited.
    public struct Limit: Hashable, Sendable {
        /// What `resourceNumber(named:)` answers.
        public var resource: Int32
        /// The soft limit.
        public var soft: UInt64
        /// The hard limit.
        public var hard: UInt64

        /// Both limits of one resource.
        public init(resource: Int32, soft: UInt64, hard: UInt64) {
            self.resource = resource
            self.soft = soft
            self.hard = hard
        }
    }

    /// A descriptor of ours and its number in the child.
    public struct Descriptor: Hashable, Sendable {
        /// Ours, open.
        public var source: CInt
        /// The child's.
        public var target: CInt

        /// `source` becomes `target`.
        public init(source: CInt, target: CInt) {
            self.source = source
            self.target = target
        }
    }

    /// A launch with everything optional left out.
    public init(
        arguments: [String], environment: [String], workingDirectory: String, token: UInt64
    ) {
        self.arguments = arguments
        self.environment = environment
        self.workingDirectory = workingDirectory
        self.token = token
    }
}

/// A running child of ours, not reaped. Holds its pidfd; close every watch of it before letting go.
public final class LaunchedProcess {
    /// Ours until it is reaped, so it names no other process before that.
    public let pid: Int32
    /// Readable when it has ended.
    public let pidfd: OwnedDescriptor
    /// In clock ticks since boot.
    public let startTime: UInt64
    /// Whether its descendants can be told by the token.
    public let hasToken: Bool
    /// Whether it was born in the cgroup that its request named.
    public let isInCgroup: Bool

    /// Takes over the pidfd of a child.
    init(_ result: cproc_result) {
        pid = result.pid
        pidfd = OwnedDescriptor(owning: result.pidfd)
        startTime = result.start_time
        hasToken = result.has_token
        isInCgroup = result.in_cgroup
    }
}

/// What became of a launch.
public enum LaunchOutcome {
    /// Exec succeeded.
    case launched(LaunchedProcess)
    /// The program never ran; nothing is left of the attempt.
    case failed(LaunchFailure)
}
