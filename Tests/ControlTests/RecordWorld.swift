import Stoic
import StoicTesting

@testable import Orchestrator

/// A project's state directory on such a disk, what its engines did, and what they must not forget.
final class RecordWorld {
    let files = RecordDisk()
    /// Every number an engine was given.
    private(set) var given: [UInt64] = []
    /// Launches that live, and were recorded without an error.
    private(set) var living: Set<UInt64> = []
    /// What engines were told.
    private(set) var errors: [ProjectError] = []
    /// Lines that were unreadable when the latest engine began.
    private(set) var unreadable = 0
    /// What the latest engine found.
    private(set) var leftovers: [UInt64] = []
    private let boot = ProcessStamp.bootID() ?? ""

    private enum Ending { case killed, clean }

    /// The engine is killed, which takes nothing from the disk; or with any other loss than
    /// `.nothing` the machine goes down, which no launch outlives. What comes after has no faults.
    func restart(after loss: CrashLoss) {
        files.disk.disarm()
        if files.disk.isDown || loss != .nothing { files.disk.restart(after: loss) }
        if loss != .nothing { living = [] }
        errors = []
    }

    /// An engine that is killed after so many launches.
    func run(_ launches: Int) { run(launches, .killed) }

    /// An engine that ends well, at first with a launch that outlives it.
    func runToEnd(_ launches: Int) { run(launches, .clean) }

    private func run(_ launches: Int, _ ending: Ending) {
        do {
            let record = try LaunchRecord(
                in: "/state", through: files, idleLines: 4, block: 3)
            leftovers = record.leftovers.map(\.incarnation.number)
            unreadable = record.unreadableLines
            for number in leftovers.dropLast() { forget(number, record) }
            var next = try record.nextIncarnation().number
            for _ in 0..<launches where !files.disk.isDown {
                do { try launch(next, record) } catch { errors.append(error) }
                next += 1
            }
            if ending == .clean { try end(record) }
        } catch { errors.append(error) }
    }

    /// As the engine does it: without a number there is no launch; what cannot be recorded runs.
    private func launch(_ number: UInt64, _ record: LaunchRecord) throws(ProjectError) {
        try record.reserve(Incarnation(number))
        given.append(number)
        try record.add(
            LaunchRecord.Entry(
                process: ProcessStamp(boot: boot, pid: 1, startTime: 7), token: number,
                incarnation: Incarnation(number), service: "db"))
        // A machine that is down has no processes.
        if !files.disk.isDown { living.insert(number) }
        if living.count > 2, let oldest = living.min() { forget(oldest, record) }
    }

    private func end(_ record: LaunchRecord) throws(ProjectError) {
        try record.finish()
        for number in living { forget(number, record) }
        try record.finish()
    }

    private func forget(_ number: UInt64, _ record: LaunchRecord) {
        record.forget(Incarnation(number))
        living.remove(number)
    }
}
