import Glibc

/// Which call of the engine fails, and how often.
struct Fault: Hashable, CustomStringConvertible {
    /// A name of `Tests/Fixtures/faults/calls.c`.
    let kind: String
    /// The first call that fails, from 1; zero only counts.
    let at: Int
    /// Whether all later calls fail too, until the run says that it is over.
    let goesOn: Bool

    var description: String { "\(kind) \(at) \(goesOn ? "on" : "once")" }

    /// The kinds after which what cannot be written or removed is lost by nature: the run must say
    /// so, but its record may lack a line.
    var spoilsRecords: Bool { ["write", "sync", "rename", "open", "memory"].contains(kind) }

    /// Whether libuv may end the process before anything is taken: it does where it cannot have
    /// what we tried for it a moment earlier.
    var mayAbort: Bool { kind == "pipe" }

    /// Without any memory from here on, Swift's runtime ends the process.
    static let neverPersistent: Set<String> = ["memory"]

    /// Every kind there is, in the order of the program.
    static let kinds: [String] = [
        "clone", "execve", "open", "pipe", "socket", "accept", "bind", "listen", "connect", "send",
        "receive", "eventfd", "timerfd", "pidfd", "epoll", "watch", "duplicate", "write", "read",
        "list", "sync", "rename", "mkdir", "lock", "memory", "limit", "chdir",
    ]
}

/// What the supervisor of a fault wrote down.
struct FaultReport {
    /// How many calls of the kind there were.
    let count: Int
    /// How many of them failed.
    let fired: Int
    /// A line for each that failed.
    let log: String

    @BenchActor
    init(_ bench: Bench) {
        let numbers = bench.read("fault").split(whereSeparator: \.isWhitespace).map { Int($0) ?? 0 }
        (count, fired) = numbers.count == 2 ? (numbers[0], numbers[1]) : (0, 0)
        log = bench.read("fault.log")
    }
}

extension Bench {
    /// Starts a program under a fault.
    func start(_ words: [String], under fault: Fault) throws -> Program {
        let gate = [
            identity.programs + "/faults", fault.kind, "\(fault.at)",
            fault.goesOn ? "on" : "once", path("fault"), path("fault-over"),
        ]
        return try start(Launch(gate + words))
    }

    /// From now on nothing fails any more.
    func endFault() throws { try write("", to: "fault-over") }

    /// How many descriptors an engine has open that are no file of its project: a log is opened
    /// with the first byte that a service writes, and may be on a full disk.
    func holdings(of engine: Program) -> Int {
        ProcessTable.descriptors(of: engine.pid).values.count {
            !$0.hasPrefix(directory) && $0 != "/dev/full"
        }
    }
}
