package import Stoic

/// One service's process, as the world has it.
package struct Seat: Hashable, Sendable {
    /// The incarnation that lives, or was just gone and is not released yet.
    package internal(set) var life: Incarnation?
    /// The one before, which nothing must move any more.
    package internal(set) var gone: Incarnation?
    /// What is known of its main process.
    package internal(set) var main = Main.absent
    /// What was said and done.
    package internal(set) var facts = Facts()
    /// The timers that are armed.
    package internal(set) var timers = TimerSet()
    /// When it became ready, as a place in the order of all such moments; 0: it is not.
    package internal(set) var readyAt = 0
    /// What the brain said when it asked for the stop.
    package internal(set) var asked: ServiceStopCause?
    /// Whether it was ready when it was asked to stop.
    package internal(set) var askedWhileReady = false
    /// Whether a oneshot counts as completed.
    package internal(set) var isCompleted = false

    /// What is known of a main process.
    package enum Main: Hashable, Sendable {
        case absent
        case pending
        case running
        case exited
    }

    /// Whether a launch was asked for, and something of it may live.
    package var isAlive: Bool { main != .absent }

    /// What a process said, and what was done to it.
    package struct Facts: OptionSet, Hashable, Sendable {
        package let rawValue: UInt8
        package static let ready = Facts(rawValue: 1)
        package static let channel = Facts(rawValue: 2)
        package static let killed = Facts(rawValue: 4)
        package static let told = Facts(rawValue: 8)
        package static let messaged = Facts(rawValue: 16)
        package static let answered = Facts(rawValue: 32)
        package static let cleaned = Facts(rawValue: 64)
        package static let signalled = Facts(rawValue: 128)

        // Sets that a walk asks for a million times: a literal would be built anew each time.
        package static let toldOrKilled = Facts(rawValue: 8 | 4)
        package static let reasonsToEnd = Facts(rawValue: 128 | 4 | 32)

        package init(rawValue: UInt8) { self.rawValue = rawValue }
    }
}

/// The timers of one service.
package struct TimerSet: OptionSet, Hashable, Sendable {
    package let rawValue: UInt8
    package static let start = TimerSet(rawValue: 1)
    package static let rung = TimerSet(rawValue: 2)
    package static let kill = TimerSet(rawValue: 4)
    package static let abandon = TimerSet(rawValue: 8)
    package static let watchdog = TimerSet(rawValue: 16)
    package static let healthy = TimerSet(rawValue: 32)
    package static let backoff = TimerSet(rawValue: 64)
    /// That it is probed for whether it lives, which begins and ends as a timer does.
    package static let probes = TimerSet(rawValue: 128)

    package init(rawValue: UInt8) { self.rawValue = rawValue }
}

extension TimerSet {
    /// The set of this timer alone; empty for the project's.
    package init(_ timer: TimerID) {
        switch timer {
        case .start: self = .start
        case .rung: self = .rung
        case .kill: self = .kill
        case .abandon: self = .abandon
        case .watchdog: self = .watchdog
        case .healthy: self = .healthy
        case .backoff: self = .backoff
        case .exitBudget: self = TimerSet()
        }
    }
}
