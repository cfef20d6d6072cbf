import CLifecycle
import EventLoop
import Glibc
import Manifest
import Stoic
import Testing

@testable import Orchestrator

extension Bench {
    /// A context without pipes, whose probes end as `probe` says.
    func context(_ pipes: [Int32: CInt] = [:], probe: @escaping ProbeRunner = noProbe)
        -> ReadinessContext
    {
        ReadinessContext(
            loop: loop, timers: timers, runProbe: probe, descriptors: pipes,
            resolve: { $0.resolved { _, _ in nil } })
    }

    /// Whether `definition` becomes ready within `limit`, and what it missed last.
    func outcome(_ definition: ReadyDefinition, within limit: Duration = .milliseconds(300)) throws
        -> (isReady: Bool, missing: String)
    {
        var isReady = false
        let watch = ReadinessWatch(definition, context: context()) { isReady = true }
        #expect(!isReady)
        try run(within: limit) { isReady }
        let missing = watch.lastFailure
        watch.close()
        #expect(timers.count == 0)
        return (isReady, missing)
    }
}

/// Runs nothing and answers nothing.
func noProbe(
    _ arguments: [String], _ timeout: Duration, _ completion: @escaping (CommandOutcome) -> Void
) -> () -> Void { {} }

/// A pipe with a reading end that does not wait.
func makePipe(_ ends: inout [CInt]) -> Bool {
    unsafe pipe(&ends) == 0 && fcntl(ends[0], F_SETFL, O_NONBLOCK) == 0
}

/// A listening TCP socket on the loopback and its port.
func listener(backlog: Int32 = 8) throws -> (CInt, UInt16) {
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    var name = sockaddr_in()
    name.sin_family = sa_family_t(AF_INET)
    name.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    var size = socklen_t(MemoryLayout<sockaddr_in>.size)
    let bound = unsafe withUnsafeMutablePointer(to: &name) { pointer in
        unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
            guard unsafe bind(descriptor, address, size) == 0 else { return false }
            return unsafe getsockname(descriptor, address, &size) == 0
        }
    }
    try #require(bound && (backlog < 0 || listen(descriptor, backlog) == 0))
    return (descriptor, UInt16(bigEndian: name.sin_port))
}

@Suite("being ready", .timeLimit(.minutes(1)))
struct ReadinessTests {
    @Test("a fact of the engine, or time, makes it ready once")
    func simple() throws {
        let bench = try Bench()
        var count = 0
        let notify = ReadinessWatch(.notify, context: bench.context()) { count += 1 }
        #expect(notify.lastFailure == "no READY=1 yet")
        notify.noteNotifyReady()
        notify.noteNotifyReady()
        #expect(count == 1 && notify.lastFailure == "")
        let completion = ReadinessWatch(.completion, context: bench.context()) { count += 1 }
        completion.noteNotifyReady()
        completion.noteCompletion()
        #expect(count == 2)
        let start = bench.loop.now.awake
        #expect(try bench.outcome(.delay(.milliseconds(30))).isReady)
        #expect(bench.loop.now.awake - start >= .milliseconds(30))
        #expect(try bench.outcome(.started(for: .zero)).isReady)
        bench.close()
    }

    @Test("nothing is said after close, and the last words are kept")
    func closed() throws {
        let bench = try Bench()
        let watch = ReadinessWatch(.notify, context: bench.context()) {
            Issue.record("ready after close")
        }
        watch.close()
        watch.noteNotifyReady()
        #expect(watch.lastFailure == "no READY=1 yet")
        bench.close()
    }

    @Test("a newline on the descriptor is ready, whatever comes before it")
    func descriptor() throws {
        let bench = try Bench()
        var ends: [CInt] = [-1, -1]
        #expect(makePipe(&ends))
        var isReady = false
        let watch = ReadinessWatch(.descriptor(3), context: bench.context([3: ends[0]])) {
            isReady = true
        }
        unsafe write(ends[1], "almost", 6)
        try bench.run(within: .milliseconds(50)) { isReady }
        #expect(!isReady)
        unsafe write(ends[1], "\n", 1)
        #expect(try bench.run { isReady })
        close(ends[1])
        watch.close()
        bench.close()
    }

    @Test("RDY-24: a descriptor closed without a newline is no readiness and does not spin")
    func closedDescriptor() throws {
        let bench = try Bench()
        var ends: [CInt] = [-1, -1]
        #expect(makePipe(&ends))
        let watch = ReadinessWatch(.descriptor(3), context: bench.context([3: ends[0]])) {
            Issue.record("ready without a newline")
        }
        close(ends[1])
        var turns = 0
        bench.loop.onTurnEnd { turns += 1 }
        try bench.run(within: .milliseconds(50)) { false }
        #expect(turns < 6)
        #expect(watch.lastFailure == "it closed descriptor 3 without a newline")
        watch.close()
        bench.close()
    }

    @Test("RDY-25: a newline written just before the end is seen by the drain")
    func drainedDescriptor() throws {
        let bench = try Bench()
        var ends: [CInt] = [-1, -1]
        #expect(makePipe(&ends))
        var isReady = false
        let watch = ReadinessWatch(.descriptor(3), context: bench.context([3: ends[0]])) {
            isReady = true
        }
        unsafe write(ends[1], "\n", 1)
        close(ends[1])
        watch.drain()
        #expect(isReady)
        watch.close()
        bench.close()
    }

    @Test("a port is ready once somebody listens")
    func tcp() throws {
        let bench = try Bench()
        let (descriptor, port) = try listener()
        #expect(try bench.outcome(.tcp(host: "127.0.0.1", port: port)).isReady)
        #expect(try bench.outcome(.tcp(host: "localhost", port: port)).isReady)
        close(descriptor)
        let (isReady, missing) = try bench.outcome(.tcp(host: "localhost", port: port))
        #expect(!isReady && missing == "localhost:\(port): nobody listens there")
        bench.close()
    }

    @Test("RDY-26: a connection to itself is no readiness")
    func selfConnect() throws {
        // The kernel does this by chance to one probe in thousands; here it is made to happen.
        let (descriptor, port) = try listener(backlog: -1)
        var found = clc_addresses()
        unsafe clc_find_addresses("127.0.0.1", port, false, &found)
        let size = socklen_t(found.list.0.length)
        let result = unsafe withUnsafeBytes(of: found.list.0.bytes) { bytes in
            let address = unsafe bytes.baseAddress?.assumingMemoryBound(to: sockaddr.self)
            return unsafe connect(descriptor, address, size)
        }
        try #require(result == 0)
        #expect(clc_connect_outcome(descriptor) == -ECONNREFUSED)
        close(descriptor)
    }

    @Test("RDY-27: a name is looked up off the loop, and a failure says so")
    func lookup() throws {
        let bench = try Bench()
        var isReady = false
        let definition = ReadyDefinition.tcp(host: "no-such-host.invalid", port: 1)
        let watch = ReadinessWatch(definition, context: bench.context()) { isReady = true }
        try bench.run(within: .seconds(20)) { watch.lastFailure.contains("cannot look up") }
        #expect(!isReady && watch.lastFailure.contains("cannot look up no-such-host.invalid"))
        watch.close()
        // A lookup under way still ends on the loop; it changes nothing.
        bench.timers.close()
        try bench.loop.run()
        bench.close()
    }

    @Test("a Unix socket is ready once it is bound, of whatever type, or abstract")
    func unix() throws {
        let bench = try Bench()
        let socket = try bench.socket()
        #expect(try bench.outcome(.unix(socket.path)).isReady)
        socket.close()
        let (isReady, missing) = try bench.outcome(.unix(socket.path))
        #expect(!isReady && missing == "\(socket.path): there is no such file or directory")
        #expect(try bench.outcome(.unix("@nobody-listens-here")).missing.contains("nobody listens"))
        bench.close()
    }

    @Test("a file is ready once it is there")
    func file() throws {
        let bench = try Bench()
        let path = bench.directory + "/there"
        #expect(
            try bench.outcome(.file(path)).missing == "\(path): there is no such file or directory")
        close(unsafe creat(path, 0o600))
        #expect(try bench.outcome(.file(path)).isReady)
        unsafe unlink(path)
        bench.close()
    }
}
