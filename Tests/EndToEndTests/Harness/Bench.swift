import CBench
import Glibc
import Testing

/// One project in a fresh directory, the engine that runs it, and what its puppets say.
///
/// Everything it waits for is one `poll(2)` over the puppets' socket and the programs it started,
/// with a deadline; there is no other wait and no sleep.
@BenchActor
final class Bench {
    /// The project's directory.
    let directory: String
    /// What the programs are run as.
    let identity: Identity
    /// Set for every program the bench starts, on top of the few variables of `baseEnvironment`.
    var environment: [String: String] = [:]
    /// Everything the puppets said, in the order it arrived.
    private(set) var events: [PuppetEvent] = []
    /// Every program started, in order.
    private(set) var programs: [Program] = []
    /// Names of puppets a case leaves behind on purpose; the end of the case kills them.
    var expectedSurvivors: Set<String> = []
    /// Whether the case ends with the runtime directory as it should be after a clean end.
    var expectsCleanEnd = true
    /// How many files of locks may be left that nobody holds.
    var expectedLocks = 0
    /// Whether the engine's record must be whole and give a reason for everything.
    var checksDecisions = true
    /// What engines held when a case said that they had settled.
    private var settled: [(program: Program, descriptors: Int, children: Int)] = []

    private let log: PuppetLog

    init() throws {
        identity = Identity.ordinary
        directory = try Scratch.make(owner: identity)
        log = try PuppetLog(directory + "/plog")
        for name in ["run", "state"] { try Scratch.makeFolder(path(name), owner: identity) }
    }

    deinit { log.stop() }

    /// A path in the project's directory.
    func path(_ name: String) -> String { directory + "/" + name }

    /// The socket the puppets speak to.
    var plog: String { path("plog") }

    /// The variables every program gets.
    var baseEnvironment: [String: String] {
        var all = [
            "PATH": "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin", "HOME": directory,
            "XDG_RUNTIME_DIR": path("run"), "XDG_STATE_HOME": path("state"), "LANG": "C.UTF-8",
            "PLOG": plog,
        ]
        all.merge(environment) { $1 }
        return all
    }

    // MARK: Waiting

    /// Waits until `condition` holds.
    func wait(
        _ what: String, within limit: Duration = .seconds(10),
        until condition: (Bench) -> Bool
    ) async throws {
        let deadline = Moment.now + limit
        while !condition(self) {
            let left = deadline - Moment.now
            guard left > .zero else { throw BenchError("waited \(limit) for \(what)\n\(story)") }
            await pump(atMost: left)
        }
    }

    /// Lets things happen for `time` and expects nothing: for "and nothing more happens".
    func watch(for time: Duration) async {
        let deadline = Moment.now + time
        while Moment.now < deadline { await pump(atMost: deadline - Moment.now) }
    }

    /// Waits for the `count`th such event of a puppet.
    @discardableResult  // most waits are for the fact alone
    func saw(
        _ name: String, _ event: String, _ extra: String = "", count: Int = 1,
        within limit: Duration = .seconds(10)
    ) async throws -> PuppetEvent {
        let what = "\(count) × \(name) \(event) \(extra)"
        try await wait(what, within: limit) { $0.all(name, event, extra).count >= count }
        return all(name, event, extra)[count - 1]
    }

    /// What a puppet said so far.
    func all(_ name: String, _ event: String? = nil, _ extra: String = "") -> [PuppetEvent] {
        events.filter {
            $0.name == name && (event == nil || $0.event == event) && $0.extra.hasPrefix(extra)
        }
    }

    /// Everything that was said, for a failure's message.
    var story: String {
        let said = events.suffix(60).map { "  \($0)" }
        let printed = programs.map { program in
            "  \(program.name): \(program.ending.map(String.init(describing:)) ?? "running")\n"
                + (program.output + program.errors).suffix(3_000)
        }
        return (["puppets:"] + said + ["programs:"] + printed).joined(separator: "\n")
    }

    private func pump(atMost limit: Duration) async {
        // A condition may be no event: it is looked at ten times a second at least.
        let limit = min(limit, .milliseconds(100))
        let running = programs.filter { $0.ending == nil || $0.isOpen }
        let sources = [log.news] + running.flatMap(\.descriptors)
        await Polling.wait(for: sources, atMost: limit)
        events += log.take()
        for program in running { program.gather() }
    }

    // MARK: Programs

    /// Starts a program.
    func start(_ launch: Launch) throws -> Program {
        let program = try Program(launch, bench: self)
        programs.append(program)
        return program
    }

    /// Everything of the case runs: at its end the engine must hold no more than now.
    func settle(_ engine: Program) {
        settled.append(
            (
                engine, ProcessTable.descriptorCount(of: engine.pid),
                ProcessTable.children(of: engine.pid).count
            ))
    }

    /// Waits until an engine that runs still is back to what it held, and has no zombies.
    private func checkHoldings() async throws {
        for program in programs where program.ending == nil && program.isOurs {
            let before = settled.last { $0.program === program }
            try await wait("\(program.name) to hold what it held", within: .seconds(3)) { _ in
                let children = ProcessTable.children(of: program.pid)
                guard !children.contains(where: { $0.state == "Z" }) else { return false }
                guard let before else { return true }
                return children.count <= before.children
                    && ProcessTable.descriptorCount(of: program.pid) <= before.descriptors
            }
        }
    }

    /// Ends what still runs, then checks what must hold after every case.
    func finish() async throws {
        try await checkHoldings()
        for program in programs.reversed() where program.ending == nil {
            program.signal(SIGTERM)
            try await wait("\(program.name) to end after SIGTERM", within: .seconds(15)) { _ in
                program.ending != nil
            }
        }
        try await checkNothingIsLeft()
        if checksDecisions { checkDecisions() }
        Scratch.remove(directory)
    }

    /// Ends everything: the case has failed already. The engine is asked first, so that it takes
    /// its services along; what is left in the project's directory is killed.
    func abandon() async {
        await end(with: SIGTERM, within: .seconds(12))
        await end(with: SIGKILL, within: .seconds(2))
        for event in events where event.event == "start" {
            if let begun = event.begun { ProcessTable.kill(event.pid, begun: begun) }
        }
        for row in ProcessTable.inside(directory) { ProcessTable.kill(row.pid, begun: row.begun) }
        if !Scratch.isKept { Scratch.remove(directory) }
    }

    private func end(with signal: CInt, within limit: Duration) async {
        for program in programs where program.ending == nil { program.signal(signal) }
        let deadline = Moment.now + limit
        while programs.contains(where: { $0.ending == nil }), Moment.now < deadline {
            await pump(atMost: deadline - Moment.now)
        }
    }

    private func checkNothingIsLeft() async throws {
        let started = events.filter { $0.event == "start" }
        var left = started.filter(\.isAlive)
        // A puppet that was killed a moment ago may be on its way out.
        let deadline = Moment.now + .milliseconds(300)
        while left.contains(where: { !expectedSurvivors.contains($0.name) }),
            Moment.now < deadline
        {
            await Polling.wait(for: [], atMost: .milliseconds(20))
            left = started.filter(\.isAlive)
        }
        for event in left where expectedSurvivors.contains(event.name) {
            if let begun = event.begun { ProcessTable.kill(event.pid, begun: begun) }
        }
        let strangers = left.filter { !expectedSurvivors.contains($0.name) }
        for event in strangers {
            if let begun = event.begun { ProcessTable.kill(event.pid, begun: begun) }
        }
        #expect(strangers.isEmpty, "left behind: \(strangers)\n\(story)")
        for program in programs where program.isOurs {
            let ended = try #require(program.ending)
            #expect(
                !ended.isCrash || program.mayCrash, "\(program.name) ended by \(ended)\n\(story)")
        }
        if expectsCleanEnd {
            let runtime = TextFile.names(in: path("run") + "/orchestrator")
            #expect(runtime.isEmpty, "left of the runtime directory: \(runtime)")
            let locks = Scratch.locks(under: path("state"))
            #expect(locks.count <= expectedLocks, "files left: \(locks)")
        }
    }
}

/// A wait that ran out, or a bench that cannot be built.
struct BenchError: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
}

/// Runs one case on a bench of its own, and the checks that follow every case.
///
/// All cases are started at once and wait here for their turn, which the time limits of their
/// suites count too. What a case waits for has a bound of its own each time.
/// - Parameter isHeavy: Whether it keeps a processor busy by itself: one such runs at a time, so
///   that those which measure time are left alone.
@BenchActor
func withBench(
    isHeavy: Bool = false, _ body: @BenchActor (Bench) async throws -> Void
) async throws {
    if isHeavy { await Slots.heavy.enter() }
    await Slots.shared.enter()
    let result: Result<Void, any Error>
    do {
        let bench = try Bench()
        do {
            try await body(bench)
            try await bench.finish()
        } catch {
            await bench.abandon()
            throw error
        }
        result = .success(())
    } catch {
        result = .failure(error)
    }
    await Slots.shared.leave()
    if isHeavy { await Slots.heavy.leave() }
    try result.get()
}

/// All cases share one thread of control: they wait most of the time, and wait elsewhere.
@globalActor
actor BenchActor {
    static let shared = BenchActor()
}

/// As many cases run at once as leave their timing alone.
private actor Slots {
    static let shared = Slots(4)
    static let heavy = Slots(1)

    private var free: Int
    private var waiting: [CheckedContinuation<Void, Never>] = []

    private init(_ count: Int) { free = count }

    func enter() async {
        if free > 0 {
            free -= 1
        } else {
            await withCheckedContinuation { waiting.append($0) }
        }
    }

    func leave() {
        if waiting.isEmpty { free += 1 } else { waiting.removeFirst().resume() }
    }
}
