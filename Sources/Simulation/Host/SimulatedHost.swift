package import Stoic

/// A host of imaginary processes in virtual time: it performs the effects of the brain on processes
/// that behave as told, and turns what they do into events. It knows no rule of starting, stopping
/// or failing; the same brain drives the real ones.
package struct SimulatedHost: Sendable {
    /// The brain, and the checker behind it.
    package internal(set) var checked: CheckedMachine
    /// Now. Both clocks start at different readings, so that nobody mistakes one for the other.
    package internal(set) var now = Self.begin
    /// What was decided, in order. At most `mostEntries`.
    package internal(set) var journal: [Entry] = []
    /// What was asked for, in order; only where `keepsEffects`.
    package internal(set) var effects: [LifecycleEffect.Action] = []
    /// How the project ended, once it has.
    package internal(set) var outcome: ProjectOutcome?
    /// How many events the brain has heard.
    package internal(set) var events = 0
    /// What each service does; `Behaviour.good` where nothing is said. A process takes up what it
    /// finds when it needs it, so a change reaches those that run.
    package var behaviours: [ServiceName: Behaviour] = [:]
    /// What a test says is wrong with a state, beside the invariants; `nil`: nothing.
    package var claim: (@Sendable (LifecycleMachine) -> String?)?
    /// The first state that was wrong by `claim`.
    package internal(set) var claimed: String?
    let keepsEffects: Bool
    var launches: [ServiceName: Int] = [:]
    var alarms: [TimerID: Alarm] = [:]
    var awake = Agenda<Planned>()
    var boot = Agenda<Planned>()
    /// What was planned for an incarnation before this is void.
    var voidBefore: [Incarnation: Int] = [:]
    var order = 0
    /// Whom we probe for whether it lives, and since when in awake time.
    var probedSince: [Incarnation: Duration] = [:]

    /// Where both clocks start.
    package static let begin = Instant(awake: .seconds(100), boot: .seconds(200))
    /// A run that decides more than this is cut off: something goes round in circles.
    package static let mostEntries = 200_000

    /// One decision, when it was made, and the name of the service it is about: its id may name
    /// another one later.
    package struct Entry: Sendable {
        package let at: Instant
        package let service: ServiceName?
        package let decision: LifecycleDecision
    }

    /// Something that will happen.
    enum Planned: Sendable {
        case alarm(TimerID)
        case event(LifecycleEvent)
    }

    /// A timer that is armed.
    struct Alarm: Sendable {
        var due: Duration
        let clock: ClockKind
        let order: Int
    }

    /// A host of the services of `machine`, to which nothing has happened yet.
    package init(_ machine: LifecycleMachine, keepsEffects: Bool = false) {
        checked = CheckedMachine(machine)
        self.keepsEffects = keepsEffects
    }

    /// The brain.
    package var machine: LifecycleMachine { checked.machine }
    /// How long the machine was awake since the begin.
    package var elapsed: Duration { now.awake - Self.begin.awake }
    /// How much time went by since the begin, sleep included.
    package var elapsedOverSleep: Duration { now.boot - Self.begin.boot }
    /// Whether the project has ended.
    package var isOver: Bool { checked.isOver }
    /// Whether the run was cut off.
    package var isCutOff: Bool { journal.count >= Self.mostEntries }
    /// What was found wrong, in words.
    package var violations: [String] { checked.violations + (claimed.map { [$0] } ?? []) }

    // MARK: What happens

    /// Somebody wants something, now.
    package mutating func command(_ verb: Command.Verb, by requester: String) {
        send(.command(Command(verb, by: requester)))
    }

    /// The process of a service says something, now; nothing where none runs.
    package mutating func say(_ name: ServiceName, _ fact: MessageFact) {
        guard let life = running(name) else { return }
        send(.message(life, fact))
    }

    /// The main process of a service ends, now; nothing where none runs.
    package mutating func exit(_ name: ServiceName, _ status: ExitStatus) {
        guard let life = running(name) else { return }
        exit(life, status)
    }

    /// What the process of a service was about to do by itself, it does not do any more.
    package mutating func silence(_ name: ServiceName) {
        guard let life = running(name) else { return }
        void(life)
    }

    /// The machine sleeps: only the boot clock goes on.
    package mutating func passAsleep(for duration: Duration) {
        now.boot = now.boot.saturatingSum(duration)
        run(for: .zero)
    }

    /// We ourselves stand still: both clocks go on, nothing happens, and then we are told.
    package mutating func freeze(for duration: Duration) {
        now = now.advanced(by: duration)
        send(.timer(.paused(duration)))
    }

    // MARK: Time

    /// Everything that is due within `duration` of awake time, in order.
    package mutating func run(for duration: Duration) { run(until: elapsed + duration) }

    /// Everything that is due before the clock of awake time has gone on so far, in order.
    package mutating func run(until end: Duration) {
        let limit = Self.begin.awake.saturatingSum(end)
        while !isCutOff, let next = next(), next.due <= limit { step(next) }
        pass(until: limit)
    }

    /// The same, but the clock stays at the last thing that happened, if nothing else is to come.
    /// Answers whether something is left for later.
    package mutating func runWhileBusy(until end: Duration) -> Bool {
        let limit = Self.begin.awake.saturatingSum(end)
        while !isCutOff, let next = next() {
            guard next.due <= limit else {
                pass(until: limit)
                return true
            }
            step(next)
        }
        return isCutOff
    }

    /// Everything that is due, until the project has ended or nothing is left to happen.
    package mutating func runOut() {
        while !isCutOff, !isOver, let next = next() { step(next) }
    }

    private mutating func pass(until awake: Duration) {
        if awake > now.awake { now = now.advanced(by: awake - now.awake) }
    }

    /// What happens next, and when in awake time: what waits on the other clock is due when its
    /// rest has passed.
    private mutating func next() -> Next? {
        while let first = awake.first, isVoid(first) { awake.removeFirst() }
        while let first = boot.first, isVoid(first) { boot.removeFirst() }
        let soon = awake.first.map { Next(due: max($0.due, now.awake), item: $0, clock: .awake) }
        let later = boot.first.map { item in
            let rest = max(item.due - now.boot, .zero)
            return Next(due: now.awake.saturatingSum(rest), item: item, clock: .boot)
        }
        guard let soon, let later else { return soon ?? later }
        return (later.due, later.item.order) < (soon.due, soon.item.order) ? later : soon
    }

    private struct Next {
        let due: Duration
        let item: Agenda<Planned>.Item
        let clock: ClockKind
    }

    private func isVoid(_ item: Agenda<Planned>.Item) -> Bool {
        switch item.entry {
        case .alarm(let timer):
            guard let alarm = alarms[timer] else { return true }
            return alarm.order != item.order || alarm.due != item.due
        case .event(let event):
            return event.life.map { item.order < voidBefore[$0, default: 0] } ?? false
        }
    }

    private mutating func step(_ next: Next) {
        switch next.clock {
        case .awake: awake.removeFirst()
        case .boot: boot.removeFirst()
        }
        pass(until: next.due)
        switch next.item.entry {
        case .alarm(let timer):
            alarms[timer] = nil
            send(.timer(.fired(timer)))
        case .event(.process(let life, .mainExited(let status))): exit(life, status)
        case .event(let event):
            send(event)
            follow(event)
        }
    }
}
