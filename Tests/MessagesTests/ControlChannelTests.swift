import CLifecycle
import EventLoop
import Glibc
import ServiceKit
import Testing

@testable import Orchestrator

/// A channel whose messages are collected.
private func channel(_ bench: Bench) throws -> ControlChannel {
    try ControlChannel(bench.loop, isMember: { _ in false }) { bench.messages.append($0) }
}

@Suite("the control channel", .timeLimit(.minutes(1)))
struct ControlChannelTests {
    @Test("RDY-17: a client takes the channel over, says hello, hears and answers a stop")
    func roundTrip() async {
        await #expect(processExitsWith: .success) {
            let bench = try Bench()
            let channel = try channel(bench)
            let theirs = channel.takeChildEnd()
            #expect(channel.takeChildEnd() == -1)
            _ = fcntl(theirs, F_SETFD, 0)
            unsafe setenv("ORCHESTRATOR_FD", "\(theirs)", 1)

            // Before HELLO nobody listens.
            #expect(channel.sendStop(reason: "x", deadline: .seconds(1)) == .nobodyListens)
            let client = ServiceClient.current
            #expect(client.descriptor == theirs && client.isSupervised)
            #expect(fcntl(theirs, F_GETFD) & FD_CLOEXEC != 0)
            #expect(unsafe getenv("ORCHESTRATOR_FD") == nil)
            #expect(try bench.run { bench.messages == [.hello] })

            #expect(client.ready(status: "up\nnow", values: ["url": "http://x"]) == .sent)
            channel.drain()
            #expect(bench.messages.last == .ready(values: ["url": "http://x"]))
            #expect(bench.messages.contains(.status("up now")))

            #expect(client.nextOrder() == nil)
            let sent = channel.sendStop(reason: "down by\nuid 0", deadline: .milliseconds(9500))
            #expect(sent == .sent && channel.sendReload() == .sent)
            var orders: [ServiceOrder] = []
            #expect(client.takeOrders(timeout: .seconds(1)) { orders.append($0) })
            #expect(orders.count == 2 && orders.last == .reload)
            guard case .stop(let stop)? = orders.first else {
                Issue.record("no stop but \(orders)")
                return
            }
            #expect(stop.reason == "down by uid 0" && stop.deadline == .milliseconds(9500))
            #expect(client.stopping() == .sent)
            channel.drain()
            #expect(bench.messages.last == .stopping)

            channel.close()
            #expect(client.nextOrder() == .disconnected)
            #expect(client.nextOrder() == nil && client.descriptor == nil)
            #expect(client.ready() == .nobodyListens)
            bench.close()
        }
    }

    @Test("RDY-18: a barrier on the channel is answered once what came before is read")
    func barrier() async {
        await #expect(processExitsWith: .success) {
            let bench = try Bench()
            let channel = try channel(bench)
            unsafe setenv("ORCHESTRATOR_FD", "\(channel.takeChildEnd())", 1)
            #expect(ServiceClient.current.barrier(timeout: .milliseconds(20)) == .failed(ETIMEDOUT))
            let before = openDescriptors()
            var ends: [CInt] = [-1, -1]
            #expect(unsafe pipe(&ends) == 0)
            let text = "BARRIER=1"
            _ = unsafe clc_send(clc_fd(), text, text.utf8.count, ends[1], 0)
            close(ends[1])
            channel.drain()
            var entry = pollfd(fd: ends[0], events: 0, revents: 0)
            #expect(unsafe poll(&entry, 1, 0) == 1)
            close(ends[0])
            #expect(noneIsLeft(since: before))
            channel.close()
            bench.close()
        }
    }

    @Test("RDY-19: a service that closes its end is heard to, once, and costs nothing after")
    func closedByService() throws {
        let bench = try Bench()
        let channel = try channel(bench)
        let theirs = channel.takeChildEnd()
        let hello = "HELLO=1"
        #expect(unsafe clc_send(theirs, hello, 7, -1, 0) == 1)
        // An empty message is not the end.
        #expect(unsafe Glibc.send(theirs, hello, 0, 0) == 0)
        #expect(try bench.run { bench.messages == [.hello] })
        close(theirs)
        #expect(try bench.run { bench.messages == [.hello, .channelClosed] })
        var turns = 0
        bench.loop.onTurnEnd { turns += 1 }
        try bench.run(within: .milliseconds(50)) { false }
        #expect(turns < 5)
        #expect(channel.sendReload() == .nobodyListens)
        channel.close()
        bench.close()
    }

    @Test("RDY-11: a wake hears at most 32 messages, so a flood leaves turns for others")
    func flood() throws {
        let bench = try Bench()
        let channel = try channel(bench)
        let theirs = channel.takeChildEnd()
        var turns: [Int] = []
        bench.loop.onTurnEnd { turns.append(bench.messages.count) }
        for _ in 0..<200 { #expect(unsafe clc_send(theirs, "WATCHDOG=1", 10, -1, 0) == 1) }
        #expect(try bench.run { bench.messages.count == 200 })
        #expect(zip(turns, turns.dropFirst()).allSatisfy { $1 - $0 <= MessageIntake.perWake })
        #expect(turns.count >= 200 / MessageIntake.perWake)
        close(theirs)
        channel.close()
        bench.close()
    }

    @Test("RDY-20: a service that stops reading cannot hold up a stop")
    func fullQueue() throws {
        let bench = try Bench()
        let channel = try channel(bench)
        let theirs = channel.takeChildEnd()
        _ = unsafe clc_send(theirs, "HELLO=1", 7, -1, 0)
        channel.drain()
        var outcome = ControlChannel.Outcome.sent
        for _ in 0..<100_000 where outcome == .sent { outcome = channel.sendReload() }
        #expect(outcome == .failed(EAGAIN))
        close(theirs)
        channel.close()
        bench.close()
    }

    @Test(
        "RDY-21: a number that is no channel is left alone",
        arguments: ["0", "99999", "x", "-1", "", "99999999999999999999"])
    func wrongDescriptor(_ text: String) async {
        await #expect(processExitsWith: .success) { [text] in
            unsafe setenv("ORCHESTRATOR_FD", text, 1)
            let flags = fcntl(0, F_GETFD)
            #expect(clc_open() < 0)
            #expect(fcntl(0, F_GETFD) == flags)
            #expect(unsafe getenv("ORCHESTRATOR_FD") == nil)
            #expect(ServiceClient.current.descriptor == nil)
        }
    }

    @Test("under nobody, a client says so and does nothing")
    func unsupervised() async {
        await #expect(processExitsWith: .success) {
            unsafe unsetenv("NOTIFY_SOCKET")
            unsafe unsetenv("ORCHESTRATOR_FD")
            let client = ServiceClient.current
            #expect(!client.isSupervised && client.ready() == .nobodyListens)
            #expect(client.barrier(timeout: .seconds(1)) == .nobodyListens)
            #expect(client.nextOrder() == nil && client.watchdogInterval == nil)
            #expect(!client.listen { _ in })
        }
    }
}

@Suite("the voice upwards", .timeLimit(.minutes(1)))
struct UpstreamNotifierTests {
    @Test("RDY-22: the outer manager's variables are taken over and hidden from children")
    func takesOver() async {
        await #expect(processExitsWith: .success) {
            let bench = try Bench()
            let socket = try bench.socket()
            unsafe setenv("NOTIFY_SOCKET", socket.path, 1)
            unsafe setenv("WATCHDOG_USEC", "40000", 1)
            unsafe setenv("WATCHDOG_PID", "\(getpid())", 1)
            unsafe setenv("LISTEN_FDS", "1", 1)
            unsafe setenv("LISTEN_PID", "\(getpid())", 1)
            let upstream = UpstreamNotifier()
            for name in ["NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID", "LISTEN_FDS"] {
                #expect(unsafe getenv(name) == nil)
            }
            #expect(upstream.watchdogInterval == .milliseconds(40))
            // A reload during our own start must not look like its end.
            upstream.reloading()
            upstream.reloaded()
            upstream.ready()
            upstream.status("2 of 3 up")
            upstream.extendTimeout(.seconds(5))
            upstream.reloading()
            upstream.reloaded()
            upstream.stopping()
            socket.drain()
            let expected: [ServiceMessage] = [
                .ready(values: [:]), .status("2 of 3 up"), .extendTimeout(.seconds(5)), .reloading,
                .ready(values: [:]), .stopping,
            ]
            #expect(bench.messages == expected)
            bench.messages = []
            try upstream.startWatchdog(bench.loop)
            #expect(try bench.run { bench.messages.count >= 4 })
            #expect(bench.messages.allSatisfy { $0 == .watchdogPing })
            upstream.close()
            socket.close()
            bench.close()
        }
    }

    @Test("RDY-23: a manager that is gone or does not read costs no time")
    func deadManager() async {
        await #expect(processExitsWith: .success) {
            unsafe setenv("NOTIFY_SOCKET", "/nonexistent/socket", 1)
            unsafe setenv("WATCHDOG_USEC", "40000", 1)
            unsafe setenv("WATCHDOG_PID", "1", 1)
            let bench = try Bench()
            let upstream = UpstreamNotifier()
            #expect(upstream.watchdogInterval == nil)
            let start = bench.loop.now.awake
            for _ in 0..<100 { upstream.status("x") }
            upstream.ready()
            #expect(bench.loop.now.awake - start < .seconds(1))
            bench.close()
        }
    }
}
