import Manifest
import Stoic

/// The brain's words for people. Each continues a sentence that begins with the service's name.

extension ServiceFailure {
    /// What went wrong: "exited with code 1 before it was ready".
    var words: String {
        switch self {
        case .cannotLaunch(let failure): failure.words
        case .endedEarly(let status): "\(status.words) before it was ready"
        case .notReadyInTime(let limit): "was not ready within \(limit.words)"
        case .crashed(let status): status.words
        case .watchdogMissed(let limit): "hangs: no watchdog message for \(limit.words)"
        case .probesFailed(let reason, let count):
            "does not answer: \(counted(count, "liveness probe")) failed, the last because "
                + reason
        case .unsuccessful(let status): "\(status.words) without completing"
        }
    }
}

extension LaunchFailure {
    /// Why it did not start: "cannot run /no/such: there is no such file or directory".
    var words: String {
        errorNumber == 0
            ? "cannot \(step)" : "cannot \(step): \(SystemError.meaning(of: errorNumber))"
    }
}

extension ExitStatus {
    /// How it ended: "exited with code 1", "was ended by SIGSEGV".
    var words: String {
        switch self {
        case .code(let code): "exited with code \(code)"
        case .signal(let number, let coreDumped):
            "was ended by \(signalText(number))\(coreDumped ? " (core dumped)" : "")"
        case .unknown: "is gone; how it ended is not known"
        }
    }
}

extension Refusal {
    var words: String {
        switch self {
        case .projectStopping: "everything is being stopped"
        case .notRunning: "it does not run"
        case .notYet: "that does not exist yet"
        case .unknownService: "there is no such service"
        }
    }
}

extension Refusal {
    /// The same about a service, where there is one.
    func words(_ service: String?) -> String {
        guard let service, self == .notRunning else { return words }
        return "\(service) does not run"
    }
}

extension Need.OnNeedLost {
    var words: String {
        switch self {
        case .ignore: "it runs on"
        case .wait: "it is stopped and waits"
        case .restart: "it is restarted when that is back"
        }
    }
}

extension SignalTarget {
    var words: String {
        switch self {
        case .main: "its main process"
        case .group: "its process group"
        case .tree: "all its processes"
        }
    }
}

extension AfterStop {
    var words: String {
        switch self {
        // The event before said how.
        case .end(.completed), .end(.exited), .end(.failed): "has ended"
        case .end(let reason): reason.words
        case .again(delayed: false): "has stopped, to start again"
        case .again(delayed: true): "has stopped, to start again after its delay"
        case .forget: "has stopped, to leave the project"
        }
    }
}

extension EndReason {
    /// Why it does not run.
    var words: String {
        switch self {
        case .neverStarted: "was not started"
        case .held(let requester): "was stopped by \(requester)"
        case .stopped: "has stopped"
        case .completed: "has completed"
        case .exited(let status): status.words
        case .failed(let failure): failure.words
        case .gaveUp(let failure, let restarts):
            "gave up after \(counted(restarts, "restart")): \(failure.words)"
        }
    }
}

extension Duration {
    /// For people: `350 ms`, `2.5 s`, `3 min`, `for ever`.
    var words: String {
        if self >= .century { return "for ever" }
        let milliseconds = self / .milliseconds(1)
        switch milliseconds {
        case ..<1_000: return "\(Int(milliseconds.rounded())) ms"
        case ..<60_000: return "\(Self.oneDecimal(milliseconds / 1_000)) s"
        case ..<3_600_000: return "\(Self.oneDecimal(milliseconds / 60_000)) min"
        default: return "\(Self.oneDecimal(milliseconds / 3_600_000)) h"
        }
    }

    private static func oneDecimal(_ value: Double) -> String {
        let tenths = Int((value * 10).rounded())
        return tenths % 10 == 0 ? "\(tenths / 10)" : "\(tenths / 10).\(tenths % 10)"
    }
}

/// `1 restart`, `2 restarts`.
func counted(_ number: Int, _ noun: String) -> String {
    number == 1 ? "1 \(noun)" : "\(number) \(noun)s"
}

/// A signal for people: `SIGTERM`, or `signal 40` where it has no name.
func signalText(_ number: Int32) -> String {
    let name = signalName(number)
    return name.first?.isLetter == true ? "SIG\(name)" : "signal \(name)"
}
