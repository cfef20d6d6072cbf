import EventLoop
import Stoic

/// The end of the project: strangers that nobody claims, then everything of ours.
extension Engine {
    /// How long strangers may take to die after SIGKILL.
    static let sweepLimit = Duration.seconds(2)

    /// The brain is done. Escapees that no service's tree claims are killed now; `down` is not a
    /// success while one of them lives.
    func end(_ outcome: ProjectOutcome) {
        phase = .sweeping(outcome)
        upstream.status("everything has ended")
        let limit = probeTimers.after(Self.sweepLimit) { [weak self] in self?.finish(outcome) }
        orphans.killStrays { [weak self] in
            self?.probeTimers.cancel(limit)
            self?.finish(outcome)
        }
    }

    private func finish(_ outcome: ProjectOutcome) {
        guard case .sweeping = phase else { return }
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
