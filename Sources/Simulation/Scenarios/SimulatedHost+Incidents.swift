import Stoic

/// How an incident befalls the host: by the behaviour of its processes, by an event, or by time.
extension SimulatedHost {
    mutating func befall(_ what: Incident.What) {
        switch what {
        case .kill(let name): exit(name, .signal(9, coreDumped: false))
        case .exit(let name, let code): exit(name, .code(code))
        case .hang(let name): hang(name)
        case .slowStart(let name, let duration): slowDown(name, duration)
        case .slowStop(let name, let duration):
            change(name) { $0.end(after: duration) }
        case .ignoreTerm(let name):
            change(name) {
                $0.term = nil
                $0.command = nil
            }
        case .escape(let name): change(name) { $0.tree = nil }
        case .unkillable(let name):
            change(name) {
                $0.term = nil
                $0.command = nil
                $0.survivesKill = true
            }
        case .failLaunch(let name, let count): change(name) { $0.failedLaunches = count }
        case .unready(let name): say(name, .notReady("it said so"))
        case .lie(let name): talk(name, .lies)
        case .flood(let name): talk(name, .floods)
        case .ask(let request, let name): ask(request, name)
        case .machineSleeps(let duration): passAsleep(for: duration)
        case .pause(let duration): freeze(for: duration)
        case .stop: command(.stopProject(.requested("you")), by: "you")
        case .force: command(.force, by: "you")
        }
    }

    private mutating func change(_ name: ServiceName, _ how: (inout Behaviour) -> Void) {
        how(&behaviours[name, default: .good])
    }

    private mutating func slowDown(_ name: ServiceName, _ duration: Duration) {
        guard let id = machine.service(named: name) else { return }
        switch machine.nodes[id.slot].spec.readiness {
        case .launch: change(name) { $0.launch = duration }
        case .reported: change(name) { $0.ready = duration }
        case .completion:
            change(name) { behaviour in
                behaviour.exits = behaviour.exits.map { exit in
                    exit.map { Behaviour.Exit(after: duration, status: $0.status) }
                }
            }
        }
    }

    private mutating func talk(_ name: ServiceName, _ chatter: Behaviour.Chatter) {
        change(name) { $0.chatter = chatter }
        if let life = running(name) { self.chatter(life, chatter) }
    }

    private mutating func ask(_ request: Incident.What.Request, _ name: ServiceName) {
        guard let id = machine.service(named: name) else { return }
        let verb: Command.Verb =
            switch request {
            case .start: .start([id])
            case .stop: .stop([id])
            case .down: .down([id])
            case .restart: .restart([id])
            }
        command(verb, by: "you")
    }
}

extension Behaviour {
    /// Nothing from now on, but what SIGKILL does.
    mutating func hang() {
        ready = nil
        exits = [nil]
        term = nil
        command = nil
        answer = .none
        pings = false
        answersProbes = answersProbes && !probesShowHang
    }

    /// Whatever tells it to end, it ends after so long.
    fileprivate mutating func end(after duration: Duration) {
        term = duration
        switch answer {
        case .none: break
        case .exits, .only: answer = .exits(after: duration)
        }
    }
}
