import EventLoop
import Glibc
import Manifest
import Stoic
import Testing

@testable import Orchestrator

@Suite("liveness probes", .timeLimit(.minutes(1)))
struct LivenessTests {
    private static let command = LiveDefinition(
        probe: .exec([Template(literal: "check")]), interval: .milliseconds(50),
        timeout: .seconds(2))

    @Test("RDY-38: probes follow each other by the interval, and go on after failures")
    func cadence() throws {
        let bench = try Bench()
        var starts: [Duration] = []
        var results: [ProbeOutcome] = []
        var running = 0
        let begun = bench.loop.now.awake
        let probe: ProbeRunner = { _, timeout, completion in
            #expect(timeout == .seconds(2) && running == 0)
            running += 1
            starts.append(bench.loop.now.awake)
            let number = starts.count
            _ = bench.timers.after(.milliseconds(10)) {
                running -= 1
                completion(number == 2 ? .tookTooLong("it took ages") : .ended(.code(0), tail: ""))
            }
            return {}
        }
        let watch = LivenessWatch(Self.command, context: bench.context(probe: probe)) {
            results.append($0)
        }
        #expect(try bench.run { results.count == 2 })
        #expect(watch.lastFailure == "the probe check came to no end: it took ages")
        #expect(try bench.run { results.count == 3 })
        #expect(watch.lastFailure == nil)
        #expect(results.map { $0 == .passed } == [true, false, true])
        let gaps = zip([begun - .milliseconds(10)] + starts, starts).map { $1 - $0 }
        #expect(gaps.allSatisfy { $0 >= .milliseconds(60) }, "\(gaps)")
        watch.close()
        bench.close()
    }

    @Test("RDY-39: a probe under way is cancelled by close, and its answer means nothing")
    func cancelled() throws {
        let bench = try Bench()
        var answer: ((CommandOutcome) -> Void)?
        var cancelled = 0
        let probe: ProbeRunner = { _, _, completion in
            answer = completion
            return { cancelled += 1 }
        }
        let watch = LivenessWatch(Self.command, context: bench.context(probe: probe)) { _ in
            Issue.record("a result after close")
        }
        #expect(try bench.run { answer != nil })
        watch.close()
        watch.close()
        #expect(cancelled == 1)
        answer?(.ended(.code(1), tail: ""))
        #expect(bench.timers.count == 0)
        bench.close()
    }

    @Test("RDY-41: a probe that cannot be ended fails at each interval, and nothing runs beside it")
    func stuck() throws {
        let bench = try Bench()
        var answer: ((CommandOutcome) -> Void)?
        var runs = 0
        var results: [ProbeOutcome] = []
        let probe: ProbeRunner = { _, _, completion in
            runs += 1
            answer = completion
            return {}
        }
        var definition = Self.command
        definition.timeout = .milliseconds(10)
        let watch = LivenessWatch(definition, context: bench.context(probe: probe)) {
            results.append($0)
        }
        #expect(try bench.run { results.count == 3 })
        let again = ProbeOutcome.failed("the probe before has not ended")
        #expect(results == [.failed("no end within 10 ms"), again, again])
        #expect(runs == 1)
        // Its end is no result any more, and the next look is a new probe.
        answer?(.tookTooLong("at last"))
        #expect(try bench.run { runs == 2 })
        #expect(results.count == 3)
        watch.close()
        bench.close()
    }

    @Test("RDY-42: a probe that could not be run is no failure")
    func notRun() throws {
        let bench = try Bench()
        var results: [ProbeOutcome] = []
        let probe: ProbeRunner = { _, _, completion in
            _ = bench.timers.after(.zero) { completion(.notRun("cannot run check")) }
            return {}
        }
        let watch = LivenessWatch(Self.command, context: bench.context(probe: probe)) {
            results.append($0)
        }
        #expect(try bench.run { results.count == 1 })
        #expect(results == [.notRun("the probe check did not run: cannot run check")])
        watch.close()
        bench.close()
    }

    @Test("RDY-40: a port that answers too late, and one where nobody listens")
    func ports() async {
        await #expect(processExitsWith: .success) {
            let bench = try Bench()
            let before = openDescriptors()
            // Nobody accepts, and the queue is full: whoever connects now gets no answer.
            let (listener, port) = try fullListener()
            for (limit, end) in [(50, "no answer within 50 ms"), (5_000, "nobody listens there")] {
                if limit > 1_000 { for descriptor in listener { close(descriptor) } }
                var results: [ProbeOutcome] = []
                let definition = LiveDefinition(
                    probe: .tcp(host: "127.0.0.1", port: port), interval: .milliseconds(1),
                    timeout: .milliseconds(limit))
                let watch = LivenessWatch(definition, context: bench.context()) {
                    results.append($0)
                }
                #expect(try bench.run { results.count >= 2 })
                let wanted = "127.0.0.1:\(port): \(end)"
                #expect(results.prefix(2).allSatisfy { $0 == .failed(wanted) }, "\(results)")
                watch.close()
            }
            #expect(noneIsLeft(since: before))
            bench.close()
        }
    }
}

/// A listening socket of the loopback address with a full queue, then those that fill it.
private func fullListener() throws -> ([CInt], UInt16) {
    let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = in_addr_t(0x7F00_0001).bigEndian
    let size = socklen_t(MemoryLayout<sockaddr_in>.size)
    var length = size
    let port: UInt16? = unsafe withUnsafeMutablePointer(to: &address) { pointer in
        unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { generic in
            guard unsafe bind(listener, generic, size) == 0, listen(listener, 0) == 0,
                unsafe getsockname(listener, generic, &length) == 0
            else { return nil }
            return unsafe UInt16(bigEndian: pointer.pointee.sin_port)
        }
    }
    let bound = try #require(port)
    var sockets = [listener]
    for _ in 0..<2 {
        let client = socket(
            AF_INET,
            Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
                | Int32(SOCK_NONBLOCK.rawValue), 0)
        unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                _ = unsafe connect(client, $0, size)
            }
        }
        sockets.append(client)
    }
    return (sockets, bound)
}
