import CLifecycle
import EventLoop
import Glibc
import Testing

@testable import Orchestrator

/// The user the tools run as: as root, `systemd-notify` would speak for its parent.
private let toolUser: uid_t = getuid() == 0 ? 65534 : getuid()

/// Starts `command` as an ordinary user, told about `socket`.
private func start(_ command: [String], _ socket: NotifySocket) throws -> Child {
    let asUser = getuid() == 0 ? ["setpriv", "--reuid=\(toolUser)", "--clear-groups", "--"] : []
    return try Child(
        asUser + command, environment: ["NOTIFY_SOCKET=\(socket.path)", "PATH=/usr/bin:/bin"])
}

/// Turns the loop until `child` has ended, and waits for it.
private func turn(_ bench: Bench, _ child: Child, within limit: Duration = .seconds(5)) throws
    -> Int32?
{
    try bench.run(within: limit) {
        // Looked at on every turn; each message makes one, and so does this timer.
        _ = bench.timers.after(.milliseconds(5)) {}
        return clc_has_ended(child.pid)
    }
    return child.wait()
}

@Suite("conformance with systemd-notify", .timeLimit(.minutes(1)))
struct ConformanceTests {
    @Test("RDY-14: systemd-notify --ready of a member is heard and gets its barrier at once")
    func ready() async {
        await #expect(processExitsWith: .success) {
            let bench = try Bench()
            var member: pid_t = 0
            let socket = try bench.socket(owner: toolUser) { $0 == member }
            for _ in 0..<20 {
                let start = bench.loop.now.awake
                let child = try MessagesTests.start(
                    ["systemd-notify", "--ready", "--status=up now"], socket)
                member = child.pid
                #expect(try turn(bench, child) == 0)
                // Without an answer to its barrier it waits five seconds and fails.
                #expect(bench.loop.now.awake - start < .seconds(2))
                #expect(bench.messages.contains(.ready(values: [:])))
                #expect(bench.messages.contains(.status("up now")))
                #expect(bench.refusals.isEmpty)
                bench.messages = []
            }
            socket.close()
            bench.close()
        }
    }

    @Test("RDY-15: a sender that has ended is heard if it was of the service's user")
    func noBlock() async {
        await #expect(processExitsWith: .success) {
            let bench = try Bench()
            let socket = try bench.socket(owner: toolUser) { _ in false }
            for _ in 0..<30 {
                let child = try start(["systemd-notify", "--no-block", "--ready"], socket)
                // Heard only once its sender is gone for good.
                #expect(child.wait() == 0)
                socket.drain()
                #expect(bench.messages == [.ready(values: [:])])
                bench.messages = []
            }
            socket.close()
            bench.close()
        }
    }

    @Test(
        "RDY-16: a sender that has ended is refused if it was of another user",
        .enabled(if: getuid() == 0, "only root can give a socket to another user"))
    func otherUser() async {
        await #expect(processExitsWith: .success) {
            let bench = try Bench()
            let owner = toolUser - 1
            let socket = try bench.socket(owner: owner) { _ in false }
            // By itself the socket keeps everybody else out.
            unsafe chmod(socket.path, 0o666)
            let child = try start(["systemd-notify", "--no-block", "--ready"], socket)
            #expect(child.wait() == 0)
            socket.drain()
            let reason = "a process that has ended, of user \(toolUser) instead of \(owner)"
            #expect(bench.messages == [.refused(reason: reason, pid: child.pid, suppressed: 0)])
            socket.close()
            bench.close()
        }
    }

    @Test("RDY-10: a living systemd-notify that is not of the service is refused and not held up")
    func foreign() async {
        await #expect(processExitsWith: .success) {
            let bench = try Bench()
            let socket = try bench.socket(owner: toolUser) { _ in false }
            // It waits for its barrier, so it lives while it is judged.
            let child = try start(["systemd-notify", "--ready"], socket)
            #expect(try turn(bench, child) == 0)
            #expect(!bench.messages.contains(.ready(values: [:])))
            let expected = ServiceMessage.refused(
                reason: "a process that is not of this service", pid: child.pid, suppressed: 0)
            #expect(bench.messages.first == expected)
            socket.close()
            bench.close()
        }
    }

    @Test("RDY-7: a MAINPID of the service is taken, that of a bystander is refused")
    func mainProcess() async {
        await #expect(processExitsWith: .success) {
            let bench = try Bench()
            let bystander = try Child(["sleep", "60"], environment: ["PATH=/usr/bin:/bin"])
            let kin = try Child(["sleep", "60"], environment: ["PATH=/usr/bin:/bin"])
            let socket = try bench.socket { $0 == getpid() || $0 == kin.pid }
            for pid in [kin.pid, bystander.pid, getpid(), 1] {
                let text = "MAINPID=\(pid)"
                _ = unsafe clc_send_to(socket.path, text, text.utf8.count, -1, 0)
            }
            socket.drain()
            #expect(bench.messages.first == .mainPID(kin.pid))
            #expect(bench.refusals.count == 3)
            for child in [bystander, kin] {
                kill(child.pid, SIGKILL)
                _ = child.wait()
            }
            socket.close()
            bench.close()
        }
    }
}
