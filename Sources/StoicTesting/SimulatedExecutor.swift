import Stoic
import Synchronization

/// Runs every job of a simulation, one at a time, in an order that somebody else chooses.
final class SimulatedExecutor: TaskExecutor {
    /// A job that could run, and whose it is.
    struct Ready {
        let job: UnownedJob
        /// The number of its task, in the order in which tasks were first seen.
        let task: Int
    }

    fileprivate struct State {
        var ready: [Ready] = []
        var numbers: [UInt64: Int] = [:]
        var lastNumber = 0
        /// The task that runs now; 0 between two.
        var running = 0
        /// Whether what runs now gave way to others.
        var hasYielded = false
        var sites: [Int: Site] = [:]
    }

    private let state = Mutex(State())

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        let task = Self.taskID(of: job)
        state.withLock { state in
            state.ready.append(Ready(job: job, task: state.number(of: task)))
        }
    }

    /// The tasks that could run now, the one that has waited longest first.
    var readyTasks: [Int] { state.withLock { $0.ready.map(\.task) } }

    /// How many jobs could run now.
    var readyCount: Int { state.withLock { $0.ready.count } }

    /// The task that runs now.
    var running: Int { state.withLock { $0.running } }

    /// Runs the job at `place` of those that are ready, the oldest first, to its next suspension.
    /// - Returns: Its task, and whether that gave way to others.
    func run(at place: Int) -> (task: Int, hasYielded: Bool) {
        let ready = state.withLock { state in
            let ready = state.ready.remove(at: place)
            state.running = ready.task
            state.hasYielded = false
            return ready
        }
        // SAFETY: the job was taken out of the queue, so it runs once; this executor lives through
        // it.
        unsafe ready.job.runSynchronously(on: asUnownedTaskExecutor())
        return state.withLock { state in
            state.running = 0
            return (ready.task, state.hasYielded)
        }
    }

    /// Remembers what the running task is; of the first hundred thousand tasks.
    func noteSite(_ site: Site) {
        state.withLock { state in
            guard state.sites.count < Self.mostSites, state.sites[state.running] == nil
            else { return }
            state.sites[state.running] = site
        }
    }

    private static let mostSites = 100_000

    /// The identity of the task that a job is of; `nil` for a job without a task. A description is
    /// the one public place where it stands: `UnownedJob(id: 17)`.
    private static func taskID(of job: UnownedJob) -> UInt64? {
        var id: UInt64?
        for byte in "\(job)".utf8 where (48...57).contains(byte) {
            id = (id ?? 0) &* 10 &+ UInt64(byte - 48)
        }
        return id
    }

    /// What a task is, in words.
    func name(of task: Int) -> String {
        guard let site = state.withLock({ $0.sites[task] }) else { return "task \(task)" }
        return "task \(task), \(site)"
    }
}

extension SimulatedExecutor.State {
    /// The number of a task, by an identity that is never used again.
    fileprivate mutating func number(of id: UInt64?) -> Int {
        // A job without a task is a step of the one that runs: it gives way, or enters an actor.
        guard let id else {
            hasYielded = running != 0
            if running != 0 { return running }
            lastNumber += 1
            return lastNumber
        }
        if let number = numbers[id] { return number }
        lastNumber += 1
        numbers[id] = lastNumber
        return lastNumber
    }
}
