import CProcess
import Glibc
import Manifest
import Stoic

/// What an engine that was killed left running: recognised by the record of its launches (boot, pid
/// *and* start time) and by the token its descendants carry, and stopped before anything is
/// started, latest launch first. A stranger with a recycled pid has neither, and is never touched.
struct Leftovers {
    /// One launch that is to be stopped.
    private struct Launch {
        let entry: LaunchRecord.Entry
        let stopTimeout: Duration
    }

    private let launches: [Launch]

    /// How long killed processes may take to go.
    private static let killWait = Duration.seconds(1)
    /// The most processes of one machine that are looked at.
    private static let mostProcesses = 1 << 17

    /// - Parameter project: gives each service its `stopTimeout`; one it does not know any more
    ///   gets the default.
    init(_ entries: [LaunchRecord.Entry], _ project: ProjectDefinition) {
        let timeouts = Dictionary(
            project.services.map { ($0.spec.name, $0.spec.stopTimeout) },
            uniquingKeysWith: { first, _ in first })
        launches = entries.sorted { $0.incarnation > $1.incarnation }.map {
            Launch(entry: $0, stopTimeout: timeouts[$0.service] ?? .seconds(10))
        }
    }

    /// Stops them one after the other: SIGTERM to what lives of each, SIGKILL after its
    /// `stopTimeout`. Waits, bounded by the sum of those: it runs before the engine's loop.
    /// - Parameter report: hears of each launch that was dealt with: its entry, how many processes
    ///   it had, and how many outlived SIGKILL.
    func stop(_ report: (LaunchRecord.Entry, _ found: Int, _ left: Int) -> Void) {
        for launch in launches {
            let found = members(of: launch.entry)
            signal(found, SIGTERM)
            signal(found, SIGCONT)
            wait(for: launch.entry, within: launch.stopTimeout)
            let stubborn = members(of: launch.entry)
            signal(stubborn, SIGKILL)
            if !stubborn.isEmpty { wait(for: launch.entry, within: Self.killWait) }
            report(launch.entry, found.count, members(of: launch.entry).count)
        }
    }

    private func members(of entry: LaunchRecord.Entry) -> [ProcessIdentity] {
        var pids = [pid_t](repeating: 0, count: Self.mostProcesses)
        let count = unsafe cproc_all_processes(&pids, pids.count)
        let own = getpid()
        return pids.prefix(max(0, min(Int(count), pids.count))).compactMap { pid in
            guard pid != own, belongs(pid, to: entry) else { return nil }
            return ProcessIdentity.living(pid)
        }
    }

    private func belongs(_ pid: pid_t, to entry: LaunchRecord.Entry) -> Bool {
        if pid == entry.process.pid { return entry.process.isAlive }
        var token: UInt64 = 0
        return unsafe cproc_read_token(pid, &token) == 0 && token == entry.token
    }

    private func signal(_ members: [ProcessIdentity], _ number: Int32) {
        for member in members {
            signalStranger(member.pid, startTime: member.startTime, number)
        }
    }

    /// Waits until nothing of the launch lives: by the end of each process, not by the clock.
    private func wait(for entry: LaunchRecord.Entry, within limit: Duration) {
        let clock = ContinuousClock()
        let end = clock.now + limit
        while let member = members(of: entry).first {
            let left = end - clock.now
            guard left > .zero else { return }
            let descriptor = cproc_pidfd_open(member.pid)
            guard descriptor >= 0 else { continue }
            var ended = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            let milliseconds = Int32(clamping: Int((left / .milliseconds(1)).rounded(.up)))
            _ = unsafe poll(&ended, 1, milliseconds)
            close(descriptor)
        }
    }
}
