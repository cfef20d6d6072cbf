package import Stoic

/// Something that goes wrong, or that somebody asks for, at one moment of a scenario. Each has a
/// spelling as an option of `orchestrator simulate`.
package struct Incident: Hashable, Sendable {
    /// When: since the begin, sleep of the machine included. What is there from the begin on counts
    /// already when the first service is launched.
    package var at: Duration
    /// What.
    package var what: What

    package init(_ what: What, at: Duration = .zero) {
        self.what = what
        self.at = at
    }

    /// What can happen.
    package enum What: Hashable, Sendable {
        /// Somebody kills its main process.
        case kill(ServiceName)
        /// Its main process exits by itself with this code.
        case exit(ServiceName, Int32)
        /// It does nothing any more: says nothing, answers nothing, obeys nothing but SIGKILL.
        case hang(ServiceName)
        /// It takes so long to become ready; a oneshot, to complete.
        case slowStart(ServiceName, Duration)
        /// It takes so long to end when it is told to.
        case slowStop(ServiceName, Duration)
        /// It does not end by any signal but SIGKILL.
        case ignoreTerm(ServiceName)
        /// It leaves a process behind when it ends.
        case escape(ServiceName)
        /// It outlives even SIGKILL: an uninterruptible wait, say.
        case unkillable(ServiceName)
        /// So many launches from the first on fail: there is no such program.
        case failLaunch(ServiceName, Int)
        /// It says that it is not ready.
        case unready(ServiceName)
        /// It says what is not so on its notify socket.
        case lie(ServiceName)
        /// It sends messages as fast as it can.
        case flood(ServiceName)
        /// Somebody starts it, stops it, takes it down or restarts it by name.
        case ask(Request, ServiceName)
        /// The machine sleeps so long.
        case machineSleeps(Duration)
        /// We ourselves stand still so long: stopped, frozen or starved.
        case pause(Duration)
        /// Somebody stops the project.
        case stop
        /// Somebody stops the project and does not want to wait.
        case force

        /// What can be asked for by name.
        package enum Request: String, Hashable, Sendable, CaseIterable {
            case start, stop, down, restart
        }

        /// The service it happens to; `nil`: to all of them.
        package var service: ServiceName? {
            switch self {
            case .kill(let name), .exit(let name, _), .hang(let name), .slowStart(let name, _),
                .slowStop(let name, _), .ignoreTerm(let name), .escape(let name),
                .unkillable(let name), .failLaunch(let name, _), .unready(let name),
                .lie(let name), .flood(let name), .ask(_, let name):
                name
            case .machineSleeps, .pause, .stop, .force: nil
            }
        }
    }
}

extension Incident {
    /// Its option on the command line: `--kill db@5s`.
    package var option: String {
        let time = at == .zero ? "" : "@\(at.spelled)"
        return switch what {
        case .kill(let name): "--kill \(name)@\(at.spelled)"
        case .exit(let name, let code): "--exit \(name)=\(code)@\(at.spelled)"
        case .hang(let name): "--hang \(name)\(time)"
        case .slowStart(let name, let duration): "--slow-start \(name)=\(duration.spelled)\(time)"
        case .slowStop(let name, let duration): "--slow-stop \(name)=\(duration.spelled)\(time)"
        case .ignoreTerm(let name): "--ignore-term \(name)\(time)"
        case .escape(let name): "--escape \(name)\(time)"
        case .unkillable(let name): "--unkillable \(name)\(time)"
        case .failLaunch(let name, let count): "--fail-launch \(name)=\(count)"
        case .unready(let name): "--not-ready \(name)@\(at.spelled)"
        case .lie(let name): "--lie \(name)\(time)"
        case .flood(let name): "--flood \(name)\(time)"
        case .ask(let request, let name): "--\(request.rawValue) \(name)@\(at.spelled)"
        case .machineSleeps(let duration): "--sleep \(duration.spelled)@\(at.spelled)"
        case .pause(let duration): "--pause \(duration.spelled)@\(at.spelled)"
        case .stop: "--stop \(at.spelled)"
        case .force: "--force \(at.spelled)"
        }
    }
}

extension Duration {
    /// As the config and the command line write it: hours, minutes and seconds where they are
    /// whole, else milliseconds, else nanoseconds. What is finer is dropped.
    package var spelled: String {
        let (seconds, attoseconds) = max(self, .zero).clamped.components
        if attoseconds == 0 {
            let parts = [(seconds / 3_600, "h"), (seconds / 60 % 60, "m"), (seconds % 60, "s")]
            let text = parts.filter { $0.0 > 0 }.map { "\($0.0)\($0.1)" }.joined()
            return text.isEmpty ? "0s" : text
        }
        let nanoseconds = attoseconds / 1_000_000_000
        if nanoseconds % 1_000_000 == 0 { return "\(seconds * 1_000 + nanoseconds / 1_000_000)ms" }
        return (seconds == 0 ? "" : "\(seconds)s") + "\(nanoseconds)ns"
    }
}
