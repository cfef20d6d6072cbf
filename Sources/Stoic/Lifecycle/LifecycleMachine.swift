/// The rules of starting, stopping, restarting and failing, as a value. It has no clock, no file,
/// no process and no task: events go in, decisions and effects come out, and the same events always
/// give the same ones. Hosts drive it: the orchestrator over real processes, `ServiceGraph` over
/// closures, a simulation over imaginary ones.
///
/// - Complexity: an event costs O(edges of the services it changes), whatever the size of the
///   project.
public struct LifecycleMachine: Sendable {
    /// What holds for the project as a whole.
    public struct Settings: Hashable, Sendable {
        /// From the first stop decision to the end of everything. Default 30 s.
        public var exitBudget: Duration
        /// Whether stops go one at a time or as parallel as the needs allow. Default one at a time.
        public var stopsInParallel: Bool
        /// The last incarnation an earlier engine of this project used; 0 if there was none.
        public var lastIncarnation: UInt64
        /// Where jitter comes from.
        public var random: RandomSource

        /// The documented defaults.
        public init(
            exitBudget: Duration = .seconds(30), stopsInParallel: Bool = false,
            lastIncarnation: UInt64 = 0, random: RandomSource = .system
        ) {
            self.exitBudget = exitBudget
            self.stopsInParallel = stopsInParallel
            self.lastIncarnation = lastIncarnation
            self.random = random
        }
    }

    /// How far the project as a whole has come.
    public enum Phase: Hashable, Sendable {
        /// Nothing was asked for yet.
        case idle
        /// Something was asked for; the project was never fully up.
        case comingUp
        /// The project was fully up once.
        case settled
        /// It ends. No service starts any more.
        case stopping(StopCause)
        /// Nothing of ours runs, except what outlived SIGKILL.
        case ended(StopCause)
    }

    /// How far the project as a whole has come.
    public internal(set) var phase = Phase.idle
    /// Whether the user's wish covers every service that starts automatically, later ones included.
    var wantsAll = false
    /// Whether the ladder was skipped for all.
    package internal(set) var wasForced = false
    package internal(set) var nodes: [Node] = []
    var freeSlots: [Int] = []
    package internal(set) var slotOfName: [ServiceName: Int] = [:]
    var slotOfIncarnation: [Incarnation: Int] = [:]
    package internal(set) var settings: Settings

    /// How long all stops together may take; what it is when they begin counts. For a host that is
    /// itself given its time only then.
    public var exitBudget: Duration {
        get { settings.exitBudget }
        set { settings.exitBudget = newValue }
    }
    package internal(set) var tally = Tally()
    var stops = StopQueue()
    var planInFlight: PlanInFlight?
    /// The services as the last plan, or the beginning, has them.
    var current: Plan
    /// Everything that grows with time and is no control state.
    var history = History()

    /// Counters that only grow, and moments. The rules ask them for order and rest, never for a
    /// value.
    struct History: Sendable {
        var decisions: UInt64 = 0
        var incarnations: UInt64
        var readyStamps: UInt64 = 0
        var stopBegan: Duration?
        var budgetEnd: Duration?

        init(incarnations: UInt64 = 0) { self.incarnations = incarnations }
    }

    /// A project of these services, none of them wanted yet.
    /// - Throws: `DependencyGraphError` with everything that is wrong with the graph.
    public init(
        _ specs: [ServiceSpec], settings: Settings = Settings()
    ) throws(DependencyGraphError) {
        try self.init(sharing: specs.map { Shared(wrappedValue: $0) }, settings: settings)
    }

    /// The same, for specs that somebody else holds too.
    public init(
        sharing specs: [Shared<ServiceSpec>], settings: Settings = Settings()
    ) throws(DependencyGraphError) {
        current = try Plan(sharing: specs)
        self.settings = settings
        history = History(incarnations: settings.lastIncarnation)
        nodes.reserveCapacity(specs.count)
        for spec in specs { addNode(spec) }
        connect(current.graph, slots: Array(specs.indices))
    }

    /// Takes one event in. Total: every event in every state leads to at least one decision.
    /// - Parameters:
    ///   - event: What happened.
    ///   - now: When it was observed; never earlier than the event before.
    ///   - output: Decisions and effects are appended to it.
    public mutating func handle(
        _ event: LifecycleEvent, at now: Instant, into output: inout LifecycleOutput
    ) {
        var turn = Turn(now: now)
        swap(&turn.output, &output)
        switch event {
        case .command(let command): take(command, &turn)
        case .process(let life, let fact): take(life, fact, &turn)
        case .message(let life, let fact): take(life, fact, &turn)
        case .timer(.fired(let timer)): take(timer, &turn)
        case .timer(.paused(let pause)): forgive(pause, &turn)
        }
        settle(&turn)
        swap(&turn.output, &output)
    }

    /// Lets what one event changed reach everything it concerns. Bounded: each round hands on at
    /// least one change, and a change of one service reaches each dependent once.
    mutating func settle(_ turn: inout Turn) {
        var goesOn: Bool
        repeat {
            while let event = turn.nextNeedEvent() { deliver(event, &turn) }
            beginDueStops(&turn)
            if turn.hasNeedEvents {
                goesOn = true
                continue
            }
            launchDue(&turn)
            goesOn = settlePlan(&turn)
            if !goesOn { settleProject(&turn) }
        } while goesOn || turn.hasNeedEvents
    }
}

/// One service's row in the brain's table.
package struct Node: Sendable {
    package let id: ServiceID
    @Shared package var spec: ServiceSpec
    package internal(set) var state = ServiceState.ended(.neverStarted)
    /// The slots of `spec.needs`, in the same order.
    package internal(set) var needs: [Int] = []
    /// Who lists this service, and as which of its needs.
    package internal(set) var dependents: [Dependent] = []
    package internal(set) var owners = Owners()
    /// How many dependents stand in the way of stopping this one.
    package internal(set) var liveDependents = 0
    /// How many of them would not go on without it.
    package internal(set) var liveRequiredDependents = 0
    /// What the present incarnation told about itself.
    var facts = IncarnationFacts()
    /// Longest path of needs below it.
    var depth = 0
    var ledger = RestartLedger()
    var moments = Moments()
    /// When its latest start became ready, as a place in the order of all such moments.
    var readyStamp: UInt64 = 0
    var lastDecision: DecisionID?

    package struct Dependent: Hashable, Sendable {
        package let slot: Int
        package let need: Int
    }

    /// Who wants the service.
    package struct Owners: Hashable, Sendable {
        /// The user, by name or as part of all.
        package internal(set) var user = false
        /// Wanted services that list it.
        package internal(set) var dependents = 0

        var isEmpty: Bool { !user && dependents == 0 }
    }

    struct IncarnationFacts: Hashable, Sendable {
        var hasChannel = false
        /// What the incarnation said in place of the spec: `.some(nil)` switches the watchdog off.
        var watchdog: Duration??
        /// Liveness probes that failed in a row; `nil` while it is not probed.
        var failedProbes: Int?
    }

    /// Moments the rules measure from, in awake time.
    struct Moments: Hashable, Sendable {
        var launched = Duration.zero
        /// When its stop comes to SIGKILL.
        var kill = Duration.zero
        /// How long its tree may take to empty after that.
        var killWait = Duration.zero
    }

    init(id: ServiceID, spec: Shared<ServiceSpec>) {
        self.id = id
        _spec = spec
    }

    /// Takes a new spec over, shared with whoever else holds it.
    mutating func share(_ spec: Shared<ServiceSpec>) { _spec = spec }

    package var isWanted: Bool { !owners.isEmpty }
    var watchdog: Duration? { facts.watchdog ?? spec.watchdog }
}

/// What one call of `handle` works with.
struct Turn {
    let now: Instant
    var output = LifecycleOutput()
    /// What the next decision follows from.
    var cause: DecisionID?
    private var needEvents: [NeedEvent] = []
    private var nextNeed = 0

    init(now: Instant) { self.now = now }

    var hasNeedEvents: Bool { nextNeed < needEvents.count }

    /// Services that nothing keeps from being launched, and what that follows from.
    private var launches: [(slot: Int, cause: DecisionID?)] = []

    mutating func launchLater(_ slot: Int) { launches.append((slot, cause)) }

    mutating func takeLaunches() -> [(slot: Int, cause: DecisionID?)] {
        defer { launches = [] }
        return launches
    }

    mutating func queue(_ event: NeedEvent) { needEvents.append(event) }

    mutating func nextNeedEvent() -> NeedEvent? {
        guard nextNeed < needEvents.count else {
            needEvents.removeAll(keepingCapacity: true)
            nextNeed = 0
            return nil
        }
        defer { nextNeed += 1 }
        return needEvents[nextNeed]
    }
}

/// What became of a need of a service: the family of events the brain makes for itself.
struct NeedEvent {
    let slot: Int
    let need: Int
    let fact: Fact
    let cause: DecisionID?

    enum Fact: Hashable, Sendable {
        case met
        case lost
    }
}
