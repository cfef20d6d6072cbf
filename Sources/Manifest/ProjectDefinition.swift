public import Stoic

/// A config that passed every check: what the engine runs.
public struct ProjectDefinition: Hashable, Sendable {
    /// The file it was read from, absolute, as the user named it (links not resolved).
    public var file: String
    /// The directory relative paths start from: that of `file`.
    public var directory: String
    /// `name:` of the config, if given; it identifies the project in place of the path.
    public var name: String?
    /// From the first stop decision to the end of everything. Default 30 s.
    public var exitBudget: Duration
    /// Whether the config names it; where it does not, the place it runs in may have a default of
    /// its own.
    public var isExitBudgetGiven: Bool
    /// Whether the stop goes one at a time or as parallel as the needs allow.
    public var stopOrder: StopOrder
    /// What a start failure does before the project was fully up; a service may say otherwise.
    public var onStartFailure: ServiceSpec.StartFailureRule
    /// The services, in the order of the file.
    public var services: [ServiceDefinition]
    /// Where logs, events and the lock live, if the config says so; absolute.
    public var stateDirectory: String?

    /// A project of `services` with everything else at its documented default.
    public init(file: String, directory: String, services: [ServiceDefinition]) {
        self.file = file
        self.directory = directory
        name = nil
        exitBudget = .seconds(30)
        isExitBudgetGiven = false
        stopOrder = .reverse
        onStartFailure = .rollback
        self.services = services
        stateDirectory = nil
    }

    /// How the services of one stop follow each other.
    public enum StopOrder: String, Hashable, Sendable, CaseIterable {
        /// One at a time, latest ready first.
        case reverse
        /// Each as soon as nothing that needs it is left.
        case parallel
    }
}

/// One service of a project: its rules for the brain, and how to launch it.
public struct ServiceDefinition: Hashable, Sendable {
    /// The rules. `launchDigest` covers everything below that a running incarnation cannot take
    /// over.
    @Shared public var spec: ServiceSpec
    /// For people: one line.
    public var description: String?
    /// How its process is made.
    @Shared public var launch: LaunchDefinition
    /// How it says, or shows, that it is ready.
    public var ready: ReadyDefinition
    /// How it is probed for whether it lives, once it is ready; `spec.liveThreshold` says how many
    /// failures are too many.
    public var live: Shared<LiveDefinition>?
    /// Whether it gets a control channel.
    public var hasControlChannel: Bool
    /// The stop commands its ladder names by index.
    public var stopCommands: [[Template]]
    /// What reload means to it: a signal (default SIGHUP) if it has no channel.
    public var reloadSignal: Int32
    /// Values it hands to those that list it in `needs`. `nil`: said with READY.
    public var provides: [String: Template?]
    /// What becomes of its output.
    @Shared public var output: OutputDefinition
    /// How its process behaves in a simulation, where the config says so.
    public var simulated: Shared<SimulatedDefinition>?

    /// A service with everything but its rules and its launch at the documented default.
    public init(_ spec: ServiceSpec, launch: LaunchDefinition) {
        self.spec = spec
        description = nil
        self.launch = launch
        ready = spec.kind == .service ? .started(for: .zero) : .completion
        live = nil
        hasControlChannel = false
        stopCommands = []
        reloadSignal = 1
        provides = [:]
        output = OutputDefinition()
        simulated = nil
    }
}

/// Text with references to values that become known at run time.
public struct Template: Hashable, Sendable {
    /// The parts, joined in order.
    public var pieces: [Piece]

    /// A part of a template.
    public enum Piece: Hashable, Sendable {
        /// Text as it is.
        case literal(String)
        /// `${service.key}`: a provided value of a declared need.
        case reference(ServiceName, key: String)
    }

    /// Text without references.
    public init(literal text: String) { pieces = [.literal(text)] }
    /// A template of these parts.
    public init(_ pieces: [Piece]) { self.pieces = pieces }

    /// The text, with each reference replaced by what `value` answers; `nil` when one has no value.
    public func resolved(_ value: (ServiceName, String) -> String?) -> String? {
        var text = ""
        for piece in pieces {
            switch piece {
            case .literal(let part): text += part
            case .reference(let service, let key):
                guard let part = value(service, key) else { return nil }
                text += part
            }
        }
        return text
    }
}

/// How a process is made.
public struct LaunchDefinition: Hashable, Sendable {
    /// The argument vector; the first is looked up in the service's own PATH unless it has a slash.
    public var command: [Template]
    /// Where it starts; absolute. Default the project's directory.
    public var workingDirectory: String
    /// The whole environment it gets, in order, later ones winning; ours are added at launch.
    public var environment: [EnvironmentEntry]
    /// The user it runs as: a name or a number; `nil` is ours.
    public var user: String?
    /// Its primary group: a name or a number; `nil` is the user's.
    public var group: String?
    /// Its umask; `nil` is ours.
    public var umask: UInt32?
    /// Its nice value, −20 to 19; `nil` is ours.
    public var nice: Int32?
    /// Its resource limits, by name (`nofile`, `core`, …).
    public var limits: [String: ResourceLimit]
    /// Whether it gets a cgroup leaf: `nil` decides by what the system allows.
    public var isolatesInCgroup: Bool?

    /// A command started in `workingDirectory` with our environment, our user and our limits.
    public init(command: [Template], workingDirectory: String) {
        self.command = command
        self.workingDirectory = workingDirectory
        environment = [.inheritAll]
        user = nil
        group = nil
        umask = nil
        nice = nil
        limits = [:]
        isolatesInCgroup = nil
    }

    /// A soft and a hard limit; `nil` is unlimited.
    public struct ResourceLimit: Hashable, Sendable {
        /// The soft limit.
        public var soft: UInt64?
        /// The hard limit.
        public var hard: UInt64?
        /// Both limits.
        public init(soft: UInt64?, hard: UInt64?) {
            self.soft = soft
            self.hard = hard
        }
    }

    /// One variable, or a file of them read at each launch.
    public enum EnvironmentEntry: Hashable, Sendable {
        /// A variable of ours that is passed on, if set.
        case inherited(String)
        /// Every variable of ours is passed on.
        case inheritAll
        /// A variable with its value.
        case set(String, Template)
        /// The variables of a file (absolute), read at load and again at each launch.
        case file(String, isRequired: Bool)
    }
}

/// How a service says, or shows, that it is ready.
public indirect enum ReadyDefinition: Hashable, Sendable {
    /// Exec succeeded, and it stayed alive this long.
    case started(for: Duration)
    /// `READY=1` on the notify socket or the control channel.
    case notify
    /// A newline on this descriptor of the child.
    case descriptor(Int32)
    /// A TCP port accepts connections.
    case tcp(host: String, port: UInt16)
    /// A Unix socket accepts connections; absolute, or `@abstract`.
    case unix(String)
    /// A command exits with 0. Its bound per run.
    case exec([Template], timeout: Duration)
    /// A line of output matches this POSIX extended regular expression.
    case log(String)
    /// A file exists; absolute.
    case file(String)
    /// Time passes after the launch.
    case delay(Duration)
    /// Exit with success: a oneshot.
    case completion
    /// All of these.
    case all([ReadyDefinition])
    /// One of these.
    case any([ReadyDefinition])
}

/// How a service is probed for whether it lives.
public struct LiveDefinition: Hashable, Sendable {
    /// What shows that it does.
    public var probe: Probe
    /// From readiness to the first probe, and from the end of each to the next. Default 10 s.
    public var interval: Duration
    /// What takes longer has failed. Default 5 s.
    public var timeout: Duration

    /// A probe, and how often it is run.
    public init(probe: Probe, interval: Duration = .seconds(10), timeout: Duration = .seconds(5)) {
        self.probe = probe
        self.interval = interval
        self.timeout = timeout
    }

    /// What shows that a service lives.
    public enum Probe: Hashable, Sendable {
        /// A TCP port accepts connections.
        case tcp(host: String, port: UInt16)
        /// A Unix socket accepts connections; absolute, or `@abstract`.
        case unix(String)
        /// A command exits with 0.
        case exec([Template])
    }
}

/// What becomes of a service's output.
public struct OutputDefinition: Hashable, Sendable {
    /// The log file; absolute. `nil`: `logs/NAME.log` in the state directory.
    public var file: String?
    /// The file is rotated at this size. Default 10 MiB.
    public var maxBytes: UInt64
    /// Rotated files kept beside the current one. Default 4.
    public var keptFiles: Int
    /// Longer lines are cut in views, with a mark. Default 16 KiB.
    public var maxLineBytes: Int
    /// Whether stdout and stderr keep pipes of their own.
    public var separatesErrors: Bool

    /// The documented defaults.
    public init() {
        file = nil
        maxBytes = 10 << 20
        keptFiles = 4
        maxLineBytes = 16 << 10
        separatesErrors = false
    }
}
