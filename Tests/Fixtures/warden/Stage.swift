import CProcess
import EventLoop
import Glibc
import Orchestrator
import Stoic

/// What a scenario runs on: a loop on the main thread, a spawner and the watch of orphans.
///
/// A wait that lasts longer than ten seconds ends the program with code 75.
final class Stage {
    let loop: Loop
    let spawner: Spawner
    private(set) var orphans: OrphanWatch
    private(set) var strays: [ProcessIdentity] = []
    private var forest: CgroupForest?
    private var condition: (() -> Bool)?
    private let alarms: Alarms<Int>
    private var tokens: UInt64
    private var actors: [Actor] = []

    /// `missing` are features to do without; with `cgroups`, each launch gets a leaf.
    init(without missing: UInt32, cgroups: Bool) throws {
        cproc_clear_signal_mask()
        try check(cproc_sanitize_stdio() == 0, "stdio cannot be sanitized")
        try check(cproc_raise_descriptor_limit() == 0, "the limit cannot be raised")
        loop = try Loop()
        spawner = try Spawner(loop, without: missing)
        var report: (ProcessIdentity) -> Void = { _ in }
        orphans = try OrphanWatch(loop, spawner: spawner) { report($0) }
        var again: () -> Void = {}
        alarms = try Alarms(loop, clock: .awake) { id in
            guard id == 0 else { return again() }
            complain("a wait took longer than 10 s; children: \(children(of: getpid()))")
            exit(75)
        }
        tokens = UInt64.random(in: 1 << 32..<1 << 62)
        if cgroups {
            forest = CgroupForest.plant(project: "warden-\(getpid())")
            try check(forest != nil, "no cgroup tree can be planted")
        }
        report = { [unowned self] in strays.append($0) }
        again = { [unowned self] in alarms.arm(1, after: .milliseconds(5)) }
        loop.onTurnEnd { [unowned self] in
            if condition?() ?? false { loop.stop() }
        }
    }

    /// Runs the loop until `condition` holds at the end of a turn.
    /// `looking`: what is waited for is no event, so it is looked at again and again.
    func wait(looking: Bool = false, until condition: @escaping () -> Bool) throws {
        guard !condition() else { return }
        self.condition = condition
        alarms.arm(0, after: .seconds(10))
        if looking { alarms.arm(1, after: .milliseconds(5)) }
        // The loop looks at the condition before it waits; what a signal changes is an event.
        try loop.run()
        alarms.disarm(0)
        alarms.disarm(1)
        self.condition = nil
    }

    func request(_ arguments: [String]) -> LaunchRequest {
        tokens += 1
        return LaunchRequest(
            arguments: arguments, environment: ["PATH=/usr/bin:/bin"], workingDirectory: "/",
            token: tokens)
    }

    /// Launches and waits for the outcome.
    func outcome(of request: LaunchRequest) throws -> LaunchOutcome {
        var outcome: LaunchOutcome?
        spawner.launch(request) { outcome = $0 }
        try wait { outcome != nil }
        guard let outcome else { throw Complaint(text: "a launch has no outcome") }
        return outcome
    }

    /// Launches with stdout and stderr in a pipe, and the tree watched.
    func launch(_ request: LaunchRequest) throws -> Actor {
        var request = request
        let output = try Output(loop)
        request.descriptors += [
            .init(source: output.writing, target: 1), .init(source: output.writing, target: 2),
        ]
        request.environment.append("\(ProcessTree.markerName)=\(request.token)")
        let leaf = forest?.leaf(named: "leaf-\(request.token)")
        if forest != nil { try check(leaf != nil, "no leaf can be made") }
        request.cgroup = leaf?.directory.number
        let result = try outcome(of: request)
        output.closeWriting()
        switch result {
        case .failed(let failure):
            output.close()
            throw Complaint(text: "cannot \(failure.step): error \(failure.errorNumber)")
        case .launched(let process):
            let tree = try ProcessTree(
                process, token: request.token, leaf: leaf, orphans: orphans)
            let actor = Actor(tree: tree, output: output, token: request.token)
            actors.append(actor)
            return actor
        }
    }

    func launch(_ arguments: String...) throws -> Actor { try launch(request(arguments)) }

    func shell(_ script: String) throws -> Actor { try launch("/bin/sh", "-c", script) }

    /// Everything must be gone by now: children, zombies, and descriptors as at the start.
    func close() throws {
        for actor in actors { actor.close() }
        actors = []
        orphans.close()
        spawner.close()
        alarms.close()
        forest?.close()
        let left = children(of: getpid())
        try check(left.isEmpty, "children are left: \(left)")
    }
}

/// A launched tree with its output and what it reported.
final class Actor {
    let tree: ProcessTree
    private let pipe: Output?
    let token: UInt64
    private(set) var facts: [Fact] = []

    enum Fact: Hashable {
        case mainExited(ExitStatus)
        case empty
    }

    init(tree: ProcessTree, output: Output?, token: UInt64) {
        self.tree = tree
        pipe = output
        self.token = token
        tree.onMainExit = { [unowned self] in facts.append(.mainExited($0)) }
        tree.onEmpty = { [unowned self] in facts.append(.empty) }
    }

    var output: Output {
        guard let pipe else { fatalError("an actor without output") }
        return pipe
    }

    var pid: Int32 { tree.process.pid }
    var isEmpty: Bool { facts.last == .empty }
    var mainExited: Bool { !facts.isEmpty }

    /// The number behind the first `ready` line.
    var readyPid: Int32? {
        for line in output.lines where line.hasPrefix("ready ") { return Int32(line.dropFirst(6)) }
        return nil
    }

    func close() {
        tree.close()
        pipe?.close()
    }
}

/// A pipe that a child writes and we gather, at most 64 KiB.
final class Output {
    private(set) var bytes: [UInt8] = []
    private(set) var hasEnded = false
    private(set) var writing: CInt
    private var reading: CInt
    private var watch: Watch?

    init(_ loop: Loop) throws {
        var ends: [CInt] = [-1, -1]
        try check(unsafe pipe(&ends) == 0, "no pipe can be made")
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        reading = ends[0]
        writing = ends[1]
        watch = try Watch(loop, descriptor: reading, interest: .readable) { [unowned self] _ in
            read()
        }
    }

    var text: String { String(decoding: bytes, as: UTF8.self) }
    var lines: [Substring] { text.split(separator: "\n") }

    private func read() {
        var buffer = [UInt8](repeating: 0, count: 65536)
        let count = unsafe Glibc.read(reading, &buffer, buffer.count)
        if count > 0, bytes.count < 65536 { bytes += buffer[..<count] }
        guard count == 0 else { return }
        hasEnded = true
        watch?.close()
        watch = nil
    }

    func closeWriting() {
        if writing >= 0 { Glibc.close(writing) }
        writing = -1
    }

    func close() {
        watch?.close()
        watch = nil
        closeWriting()
        if reading >= 0 { Glibc.close(reading) }
        reading = -1
    }
}

struct Complaint: Error { let text: String }

func check(_ condition: Bool, _ text: @autoclosure () -> String) throws {
    guard condition else { throw Complaint(text: text()) }
}

func complain(_ text: String) {
    let line = "warden: \(text)\n"
    _ = unsafe write(2, line, line.utf8.count)
}
