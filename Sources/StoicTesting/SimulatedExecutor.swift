import Stoic
import Synchronization

/// Runs every job of a simulation, one at a time, in an order it chooses.
final class SimulatedExecutor: TaskExecutor {
    private let ready = Mutex<[UnownedJob]>([])

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        ready.withLock { $0.append(job) }
    }

    /// How many jobs could run now.
    var readyCount: Int { ready.withLock { $0.count } }

    /// Runs the job at `place` of those that are ready, the oldest first, to its next suspension.
    func run(at place: Int) {
        let job = ready.withLock { $0.remove(at: place) }
        unsafe job.runSynchronously(on: asUnownedTaskExecutor())
    }
}
