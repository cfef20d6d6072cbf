import EventLoop
import Stoic

/// The end of the project: strangers that nobody claims and commands that still run, then
/// everything of ours.
extension Engine {
    /// How long strangers and commands may take to die after SIGKILL.
    static let longestSweep = Duration.seconds(2)

    /// The brain is done. Escapees that no service's tree claims are killed now; `down` is not a
    /// success while one of them lives.
    func end(_ outcome: ProjectOutcome) {
        phase = .sweeping(outcome, strangersAreGone: false)
        upstream.status("everything has ended")
        sweepLimit = probeTimers.after(Self.longestSweep) { [weak self] in self?.finish(outcome) }
        for run in runs.values { run.cancel() }
        orphans.killStrays { [weak self] in
            self?.phase = .sweeping(outcome, strangersAreGone: true)
            self?.finishIfSwept()
        }
    }

    /// A command that ran on behalf of a service is over, with all that it started.
    func runEnded(_ number: UInt64) {
        runs[number] = nil
        finishIfSwept()
    }

    private func finishIfSwept() {
        guard case .sweeping(let outcome, strangersAreGone: true) = phase, runs.isEmpty else {
            return
        }
        finish(outcome)
    }

    private func finish(_ outcome: ProjectOutcome) {
        guard case .sweeping = phase else { return }
        probeTimers.cancel(sweepLimit)
        let result = result(of: outcome)
        for waiter in waiters where waiter.isOpen && !waiter.isDone(self) {
            waiter.endWithProject(result, probeTimers)
        }
        waiters = []
        close(result)
    }

    private func result(of outcome: ProjectOutcome) -> ProjectResult {
        var survivors: [ProjectResult.Survivor] = []
        for life in lives.keys.sorted() { survivors += survivorsOf(life) }
        for run in runs.values {
            for member in run.tree?.members() ?? [] {
                survivors.append(
                    .init(service: run.service.text, pid: member.pid, command: member.command))
            }
        }
        for stranger in orphans.strays() {
            survivors.append(.init(service: nil, pid: stranger.pid, command: stranger.command))
        }
        var result = ProjectResult(
            outcome: outcome, cause: narrator.words(outcome.cause), survivors: survivors)
        result.failures = outcome.failed.map(failureText)
        return result
    }

    /// How a service failed, with the last lines of its output: what its user would look up next.
    func failureText(_ id: ServiceID) -> String {
        let name = machine.spec(of: id).name
        let past = history[name] ?? ServiceHistory()
        let words = past.lastFailure ?? "\(name) failed"
        guard !past.lastOutput.isEmpty else { return words }
        return ([words + "; its last output:"] + past.lastOutput.map { "  \($0)" })
            .joined(separator: "\n")
    }
}
