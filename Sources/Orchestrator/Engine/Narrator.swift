package import Stoic

/// Turns what the brain decided into records for people and programs: a stable name, fields, and
/// one sentence.
package struct Narrator {
    /// The name of a service, for the sentences.
    let name: (ServiceID) -> String

    /// A narrator that knows services by these names.
    package init(name: @escaping (ServiceID) -> String) { self.name = name }

    /// The level and the sentence of a verdict about `service`.
    package func words(
        _ verdict: Verdict, _ service: String
    ) -> (level: EventLevel, text: String) {
        (verdict.level, text(verdict, service))
    }

    private func text(_ verdict: Verdict, _ it: String) -> String {
        switch verdict {
        case .accepted(let verb, let requester): "\(verb), asked for by \(requester)"
        case .refused(let verb, let requester, let refusal):
            "cannot \(verb) for \(requester): \(refusal.words)"
        case .projectUp: "everything is up"
        case .projectStopping(let cause): "stopping everything: \(words(cause))"
        case .forced(let requester): "killing everything: \(requester)"
        case .projectEnded: "everything has ended"
        case .budgetExceeded: "the exitBudget has passed: killing what is left"
        case .paused(let pause): "we stood still for \(pause.words); timeouts are extended by it"
        case .planStarted(let added, let changed, let removed):
            "a changed config: \(added) added, \(changed) changed, \(removed) removed"
        case .planSettled: "the changed config is in force"
        case .planRolledBack(let id): "the changed config is taken back: \(name(id)) failed"
        case .waiting(let needs): "\(it) waits for \(needs) of its needs"
        case .launching: "\(it) is launched"
        case .launched: "\(it) runs"
        case .ready: "\(it) is ready"
        case .notReady(let reason): "\(it) is not ready: \(reason)"
        case .completed: "\(it) has completed"
        case .timeoutExtended(let more): "\(it) asked for \(more.words) more"
        case .extensionRefused(let more): "\(it) asked for \(more.words), more than there is"
        case .channelOpened: "\(it) listens on its control channel"
        case .watchdogSet(let limit): "\(it) watchdog: \(limit.map(\.words) ?? "off")"
        case .healthy: "\(it) was ready for long enough: its delays start over"
        case .probeFailed(let reason, let count, let most):
            "\(it): liveness probe failed (\(count) of \(most)): \(reason)"
        case .probePassed: "\(it): its liveness probe succeeds again"
        case .failed(let failure): "\(it) \(failure.words)"
        case .exited(let status), .mainExited(let status): "\(it) \(status.words)"
        case .restartScheduled(let delay, let attempt):
            "\(it) starts again \(delay.wordsAhead) (attempt \(attempt))"
        case .gaveUp(let restarts, let window):
            "\(it) gave up: \(counted(restarts, "restart")) within \(window.words)"
        case .needLost(let id, let rule): "\(it) lost \(name(id)), which it needs: \(rule.words)"
        case .stopRequested(let cause): "\(it) is to stop: \(words(cause))"
        case .stopping(let cause, let limit):
            "\(it) is being stopped (\(words(cause))), SIGKILL \(limit.wordsAhead)"
        case .stopMessageSent: "\(it) was sent the graceful message"
        case .stopAnswered: "\(it) says that it is stopping"
        case .signalled(let number, let target):
            "\(it) was sent \(signalText(number)) (\(target.words))"
        case .stopCommandRun(let index): "\(it): stop command \(index + 1) runs"
        case .killed: "\(it) was killed by force: SIGKILL to its whole tree"
        case .stopped(let next): "\(it) \(next.words)"
        case .abandoned: "\(it) outlived SIGKILL and is abandoned; its processes stay ours"
        case .abandonedTreeEmpty: "the last process of \(it) is gone at last"
        case .reloadSent: "\(it) was asked to reload"
        case .forgotten: "\(it) has left the project"
        case .stale: "\(it): a late event about an earlier launch changed nothing"
        case .noted: "\(it): noted"
        case .defect(let words): "defect: \(words) (\(it)); please report it"
        }
    }

    /// Why the project stops, in words.
    func words(_ cause: StopCause) -> String {
        switch cause {
        case .requested(let requester): "asked for by \(requester)"
        case .signal(let number): signalText(number)
        case .startFailed(let id): "\(name(id)) failed to start"
        case .essentialEnded(let id): "\(name(id)), which is essential, has ended"
        case .allEnded: "every service has ended"
        }
    }

    /// Why a service stops, in words.
    func words(_ cause: ServiceStopCause) -> String {
        switch cause {
        case .project: "the project stops"
        case .requested(let requester): "asked for by \(requester)"
        case .needStops(let id, let requester):
            "\(name(id)), which it needs, is stopped by \(requester)"
        case .needLost(let id): "\(name(id)), which it needs, was lost"
        case .unwanted: "nothing needs it any more"
        case .restart(let requester): "restarted by \(requester)"
        case .plan: "the config changed"
        case .failure(let failure): "it \(failure.words)"
        case .finished: "it has ended"
        case .completed: "it has completed"
        }
    }
}

extension Verdict {
    /// How much attention it deserves.
    fileprivate var level: EventLevel {
        switch self {
        case .launched, .channelOpened, .watchdogSet, .healthy, .stopRequested, .stale, .noted:
            .debug
        case .accepted, .projectUp, .projectStopping, .projectEnded, .planStarted, .planSettled,
            .waiting, .launching, .ready, .completed, .timeoutExtended, .exited, .stopping,
            .stopMessageSent, .stopAnswered, .signalled, .stopCommandRun, .mainExited, .stopped,
            .reloadSent, .forgotten:
            .info
        case .forced, .paused, .extensionRefused, .restartScheduled, .needLost,
            .abandonedTreeEmpty, .probePassed:
            .notice
        case .refused, .notReady, .killed, .probeFailed: .warning
        case .budgetExceeded, .planRolledBack, .failed, .gaveUp, .abandoned, .defect: .error
        }
    }
}

extension Duration {
    /// A delay from now on: `now`, `in 2 s`.
    fileprivate var wordsAhead: String { self > .zero ? "in \(words)" : "now" }
}
