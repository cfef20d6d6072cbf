import CProcess
import EventLoop
import Glibc
import Manifest
import Stoic

/// What an engine that was killed left running: recognised by the record of its launches (boot, pid
/// *and* start time) and by the token its descendants carry, and stopped before anything is
/// started, latest launch first. A stranger with a recycled pid has neither, and is never touched.
struct Leftovers: Sendable {
    /// How a launch was found, and what became of it.
    struct Outcome: Sendable {
        let entry: LaunchRecord.Entry
        /// How many processes of it lived.
        var found: Int
        /// How many outlived SIGKILL.
        var left: Int
    }

    /// One launch that is to be stopped.
    private struct Launch {
        let entry: LaunchRecord.Entry
        let stopTimeout: Duration
    }

    private let launches: [Launch]
    /// All of it fits in here, but for the last SIGKILL.
    private let budget: Duration

    /// What a process that was forked during the stop has between SIGTERM and SIGKILL.
    private static let lateWait = Duration.milliseconds(500)

    /// - Parameter project: gives each service its `stopTimeout`; one it does not know any more
    ///   gets the default.
    init(_ entries: [LaunchRecord.Entry], _ project: ProjectDefinition) {
        let timeouts = Dictionary(
            project.services.map { ($0.spec.name, $0.spec.stopTimeout) },
            uniquingKeysWith: { first, _ in first })
        launches = entries.sorted { $0.incarnation > $1.incarnation }.map {
            Launch(entry: $0, stopTimeout: timeouts[$0.service] ?? .seconds(10))
        }
        budget = project.exitBudget
    }

    /// Stops them one after the other: SIGTERM to what lives of each, SIGKILL after its
    /// `stopTimeout`, or earlier where the `exitBudget` is short, by the rule of every stop.
    /// Blocks; not for the loop's thread.
    func stop() -> [Outcome] {
        let end = awakeTime() + budget
        let living = survey()
        var later = launches.filter { living[$0.entry.token] != nil }.count
        var outcomes: [Outcome] = []
        for launch in launches {
            let found = living[launch.entry.token] ?? []
            outcomes.append(Outcome(entry: launch.entry, found: found.count, left: 0))
            guard !found.isEmpty else { continue }
            later -= 1
            let slot = FairShare.slot(
                wanted: launch.stopTimeout.saturatingSum(FairShare.killWait),
                remaining: end - awakeTime(), later: later)
            let killWait = min(FairShare.killWait, slot / 2)
            stop(launch.entry, found, within: slot - killWait, killWait)
        }
        let left = stopLate()
        for index in outcomes.indices {
            outcomes[index].left = left[outcomes[index].entry.token]?.count ?? 0
            outcomes[index].found = max(outcomes[index].found, outcomes[index].left)
        }
        return outcomes
    }

    private func stop(
        _ entry: LaunchRecord.Entry, _ found: [ProcessIdentity], within limit: Duration,
        _ killWait: Duration
    ) {
        signal(found, SIGTERM)
        signal(found, SIGCONT)
        guard !hasEnded(found, within: limit) else { return }
        // It may have forked since.
        let stubborn = survey()[entry.token] ?? []
        signal(stubborn, SIGKILL)
        _ = hasEnded(stubborn, within: killWait)
    }

    /// What was forked while its launch was being stopped.
    /// - Returns: what outlived SIGKILL, by token.
    private func stopLate() -> [UInt64: [ProcessIdentity]] {
        var left = survey()
        guard !left.isEmpty else { return [:] }
        let late = left.values.flatMap(\.self)
        signal(late, SIGTERM)
        signal(late, SIGCONT)
        _ = hasEnded(late, within: Self.lateWait)
        let end = awakeTime() + FairShare.killWait
        left = survey()
        while !left.isEmpty, awakeTime() < end {
            let all = left.values.flatMap(\.self)
            signal(all, SIGKILL)
            _ = hasEnded(all, within: end - awakeTime())
            left = survey()
        }
        return left
    }

    /// All that lives of all launches, by token. One look at every process of the machine.
    private func survey() -> [UInt64: [ProcessIdentity]] {
        let mains = Dictionary(
            launches.map { ($0.entry.process.pid, $0.entry) },
            uniquingKeysWith: { first, _ in first })
        let tokens = Set(launches.map(\.entry.token))
        let own = cproc_self()
        var found: [UInt64: [ProcessIdentity]] = [:]
        for pid in ProcessFiles.all() where pid != own {
            guard let token = owner(of: pid, mains, tokens),
                let member = ProcessIdentity.living(pid)
            else { continue }
            found[token, default: []].append(member)
        }
        return found
    }

    private func owner(
        of pid: Int32, _ mains: [Int32: LaunchRecord.Entry], _ tokens: Set<UInt64>
    ) -> UInt64? {
        if let main = mains[pid], main.process.isAlive { return main.token }
        guard let token = ProcessFiles.token(of: pid), tokens.contains(token) else { return nil }
        return token
    }

    private func signal(_ members: [ProcessIdentity], _ number: Int32) {
        for member in members {
            signalStranger(member.pid, startTime: member.startTime, number)
        }
    }

    /// Waits for the end of each, by the end itself and not by the clock.
    /// - Returns: whether all of them have ended in time.
    private func hasEnded(_ members: [ProcessIdentity], within limit: Duration) -> Bool {
        let end = awakeTime() + limit
        for member in members {
            let opened = cproc_pidfd_open(member.pid)
            guard opened >= 0 else { continue }
            let descriptor = OwnedDescriptor(owning: opened)
            guard ProcessIdentity.living(member.pid)?.startTime == member.startTime else {
                continue
            }
            let isOver = retryingInterrupts { () -> CInt in
                let left = max(end - awakeTime(), .zero)
                var ended = pollfd(fd: descriptor.number, events: Int16(POLLIN), revents: 0)
                let wait = Int32(clamping: Int((left / .milliseconds(1)).rounded(.up)))
                // SAFETY: `poll` gets one entry, and keeps no pointer to it.
                return unsafe poll(&ended, 1, wait)
            }
            if isOver <= 0 { return false }
        }
        return true
    }
}
