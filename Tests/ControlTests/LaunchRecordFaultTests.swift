import Glibc
import Stoic
import StoicTesting
import Testing

@testable import Orchestrator

/// The launch record and the count of launches on a disk that fails, and under a machine that goes
/// down, at every call they make. That is seconds of computing, so other tests are let in between.
@Suite("LaunchRecord: faults", .timeLimit(.minutes(5)))
struct LaunchRecordFaultTests {
    /// Enough for each of the files to be written anew several times.
    private let launches = 8

    /// A project whose first engine was killed and left three launches.
    private func begunWorld() -> RecordWorld {
        let world = RecordWorld()
        world.run(3)
        world.restart(after: .nothing)
        world.files.forgetCalls()
        return world
    }

    /// The next engine starts, finds what it must, and gives new numbers.
    private func check(_ world: RecordWorld, after what: @autoclosure () -> String) {
        let living = world.living
        world.run(5)
        #expect(world.errors.isEmpty, "after \(what())")
        #expect(living.isSubset(of: world.leftovers), "forgotten after \(what())")
        #expect(Set(world.leftovers).isSubset(of: world.given), "invented after \(what())")
        #expect(Set(world.given).count == world.given.count, "a number twice after \(what())")
    }

    @Test("CTL-14: an engine killed before any call forgets no living launch")
    func killed() async {
        for call in 1... {
            await Task.yield()
            let world = begunWorld()
            world.files.disk.crash(beforeCall: call)
            world.runToEnd(launches)
            guard world.files.disk.isDown else { return #expect(call > 30) }
            world.restart(after: .nothing)
            check(world, after: "a kill before call \(call)")
            #expect(world.unreadable == 0)
        }
    }

    @Test("CTL-14: a line that a kill cuts short is skipped and counted")
    func killedInMidWrite() {
        let healthy = begunWorld()
        healthy.runToEnd(launches)
        let calls = healthy.files.calls
        var torn = 0
        for (write, place) in calls.indices.filter({ calls[$0].call == .write }).enumerated() {
            let world = begunWorld()
            world.files.disk.arm(.tearWrite(.only(write + 1), keeping: 3))
            world.files.disk.crash(beforeCall: place + 2)
            world.runToEnd(launches)
            #expect(world.files.disk.isDown)
            world.restart(after: .nothing)
            check(world, after: "write \(write + 1) was cut short")
            // What was cut short in a draft has never had the record's name.
            let isLine = calls[place].path == "/state/launches"
            #expect(world.unreadable == (isLine ? 1 : 0))
            torn += isLine ? 1 : 0
        }
        #expect(torn >= 4)
    }

    @Test(
        "CTL-15: a machine that goes down before any call does not bring a number back",
        arguments: CrashLoss.all)
    func wentDown(_ loss: CrashLoss) async {
        for call in 1... {
            await Task.yield()
            let world = begunWorld()
            world.files.disk.crash(beforeCall: call)
            world.runToEnd(launches)
            guard world.files.disk.isDown else { return #expect(call > 30) }
            world.restart(after: loss)
            check(world, after: "\(loss) was lost before call \(call)")
        }
    }

    @Test(
        "CTL-16: any call fails: an error in words, the file before is whole, no number twice",
        arguments: FileCall.allCases, CrashLoss.all)
    func failing(_ call: FileCall, _ loss: CrashLoss) async {
        await outlive(call, isError: true, then: loss) { .fail(call, $0, errno: EIO) }
    }

    @Test(
        "CTL-16: any write is torn: an error in words, or the rest follows",
        arguments: [nil, ENOSPC], CrashLoss.all)
    func torn(_ code: CInt?, _ loss: CrashLoss) async {
        for count in [1, 40] {
            await outlive(.write, isError: code != nil, then: loss) {
                .tearWrite($0, keeping: count, errno: code)
            }
        }
    }

    /// Makes each call of a kind go wrong: once, and from then on. Then the engine is killed, or
    /// the machine goes down.
    private func outlive(
        _ call: FileCall, isError: Bool, then loss: CrashLoss,
        _ fault: (ArmedFault.Calls) -> FileFault
    ) async {
        for number in 1... {
            await Task.yield()
            let worlds = [ArmedFault.Calls.only(number), .from(number)].flatMap { calls in
                [
                    brokenWorld(fault(calls), isClean: false),
                    brokenWorld(fault(calls), isClean: true),
                ]
            }
            let reached = worlds.filter { $0.files.count(of: call) >= number }
            guard !reached.isEmpty else { return }
            for world in reached {
                let what = "\(call) \(number), \(loss)"
                #expect(!isError || !world.errors.isEmpty, "no error: \(what)")
                #expect(world.errors.allSatisfy(isInWords), "\(world.errors)")
                world.restart(after: loss)
                check(world, after: what)
                #expect(loss != .nothing || world.unreadable <= 1)
            }
        }
    }

    /// A world in which an engine met a fault, and perhaps ended well all the same.
    private func brokenWorld(_ fault: FileFault, isClean: Bool) -> RecordWorld {
        let world = begunWorld()
        world.files.disk.arm(fault)
        if isClean { world.runToEnd(launches) } else { world.run(launches) }
        return world
    }

    private func isInWords(_ error: ProjectError) -> Bool {
        let text = "\(error)"
        return text.hasPrefix("cannot ") && text.contains("/state/")
    }

    @Test("CTL-17: a launch that got no number leaves a gap and lets none come twice")
    func gap() throws {
        let files = RecordDisk()
        let first = try LaunchRecord(in: "/state", through: files, block: 3)
        #expect(try first.nextIncarnation() == Incarnation(1))
        for number in 1...3 { try first.reserve(Incarnation(UInt64(number))) }
        files.disk.arm(.fail(.sync, .only(1), errno: EIO))
        #expect(throws: ProjectError.self) { try first.reserve(Incarnation(4)) }
        for number in 5...8 { try first.reserve(Incarnation(UInt64(number))) }
        let successor = try LaunchRecord(in: "/state", through: files, block: 3)
        #expect(try successor.nextIncarnation() > Incarnation(8))
        try first.finish()
        let last = try LaunchRecord(in: "/state", through: files, block: 3)
        #expect(try last.nextIncarnation() == Incarnation(9))
    }

    @Test("CTL-17: a number that no engine of ours reaches is a foreign line")
    func hugeNumber() throws {
        let line = "1 boot 1 7 a \(UInt64.max - 1) db"
        #expect(LaunchRecord.Entry(line: Array(line.utf8)[...]) == nil)
    }
}
