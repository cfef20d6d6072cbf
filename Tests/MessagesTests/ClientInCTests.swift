import CLifecycle
import EventLoop
import Glibc
import Manifest
import Testing

@testable import Orchestrator

@Suite("the example daemon in C", .timeLimit(.minutes(1)))
struct ClientInCTests {
    @Test("RDY-17: built from two files as C99, it gets ready, hands over a value and stops well")
    func lifetime() async {
        await #expect(processExitsWith: .success) {
            let bench = try Bench()
            let root = #filePath.split(separator: "/").dropLast(3).joined(separator: "/")
            let client = "/\(root)/CShims/CLifecycle"
            let program = bench.directory + "/timed"
            let path = "PATH=/usr/bin:/bin"
            let compiler = try Child(
                [
                    "cc", "-std=c99", "-D_GNU_SOURCE", "-Wall", "-Wextra", "-Werror",
                    "-I\(client)/include", "-o", program,
                    "/\(root)/examples/03-daemon-in-c/timed.c", "\(client)/CLifecycle.c",
                ], environment: [path])
            try #require(compiler.wait(limit: 50) == 0)

            var daemon: Child?
            let channel = try ControlChannel(bench.loop, isMember: { $0 == daemon?.pid }) {
                bench.messages.append($0)
            }
            let theirs = channel.takeChildEnd()
            daemon = try Child(
                [program], environment: ["ORCHESTRATOR_FD=\(theirs)", "WATCHDOG_USEC=20000", path],
                given: [theirs])
            close(theirs)

            var address: String?
            let isReady = try bench.run {
                for case .ready(let values) in bench.messages { address = values["address"] }
                return address != nil
            }
            #expect(isReady && bench.messages.first == .hello)
            #expect(address?.hasPrefix("127.0.0.1:") == true)
            let port = try #require(address?.split(separator: ":").last.flatMap { UInt16($0) })
            let isOpen = try bench.outcome(.tcp(host: "127.0.0.1", port: port), within: .seconds(5))
            #expect(isOpen.isReady)
            #expect(try bench.run { bench.messages.contains(.watchdogPing) })

            #expect(channel.sendReload() == .sent)
            #expect(try bench.run { bench.messages.contains(.reloading) })
            #expect(channel.sendStop(reason: "test", deadline: .seconds(5)) == .sent)
            #expect(try bench.run { bench.messages.contains(.channelClosed) })
            #expect(bench.messages.contains(.stopping))
            #expect(daemon?.wait() == 0)
            channel.close()
            unsafe unlink(program)
            bench.close()
        }
    }
}
