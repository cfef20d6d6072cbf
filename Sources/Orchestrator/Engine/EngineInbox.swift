import Stoic

/// Facts that wait for the engine's turn, in the order a turn takes them: launches, messages, ends,
/// results of liveness probes, commands, timers. So what a service said before it ended counts
/// before its end, a probe that found nobody after it, and a timer that ran out counts only after
/// everything that arrived before it was looked at.
///
/// Level-triggered: what the callbacks do not read stays in the kernel, so a turn's worth is
/// bounded by what they read per wake.
struct EngineInbox {
    /// A command, and who wants to hear what became of it.
    struct Wish {
        let command: Command
        let answer: (([LifecycleDecision]) -> Void)?
    }

    private(set) var launches: [LifecycleEvent] = []
    private(set) var messages: [LifecycleEvent] = []
    private(set) var ends: [LifecycleEvent] = []
    private(set) var probes: [LifecycleEvent] = []
    private(set) var wishes: [Wish] = []
    private(set) var timers: [EngineTimers.Fired] = []

    var isEmpty: Bool {
        launches.isEmpty && messages.isEmpty && ends.isEmpty && probes.isEmpty && wishes.isEmpty
            && timers.isEmpty
    }

    mutating func post(_ life: Incarnation, _ fact: ProcessFact) {
        switch fact {
        case .launched, .launchFailed: launches.append(.process(life, fact))
        case .mainExited, .treeEmpty: ends.append(.process(life, fact))
        }
    }

    mutating func post(_ life: Incarnation, _ fact: MessageFact) {
        switch fact {
        case .probePassed, .probeFailed: probes.append(.message(life, fact))
        case .ready, .notReady, .channelOpened, .stopping, .extendTimeout, .watchdogPing,
            .watchdogInterval, .watchdogTrigger:
            messages.append(.message(life, fact))
        }
    }

    mutating func post(_ command: Command, answer: (([LifecycleDecision]) -> Void)? = nil) {
        wishes.append(Wish(command: command, answer: answer))
    }

    mutating func post(_ timer: EngineTimers.Fired) { timers.append(timer) }

    /// Everything that is there now; the inbox is empty afterwards.
    mutating func take() -> EngineInbox {
        var taken = EngineInbox()
        swap(&taken, &self)
        return taken
    }
}
