import Testing

@testable import OrchestratorCLI

@Suite("What a stop waits for", .timeLimit(.minutes(1)))
struct StopProgressTests {
    private let api = StopProgress.Waiting(
        "api", pid: 412, last: .init("SIGTERM", .milliseconds(2_100)),
        next: .init("SIGKILL", .milliseconds(7_900)))

    @Test("CLI-14: who, what was sent, what comes next and when, and how to hurry")
    func one() {
        #expect(
            StopProgress([api]).line()
                == "waiting for api (pid 412, SIGTERM sent 2.1 s ago, SIGKILL in 7.9 s); "
                + "press Ctrl-C again to kill")
    }

    @Test("once everything is killed there is no more to press")
    func forced() {
        let killed = StopProgress.Waiting("api", pid: nil, last: .init("SIGKILL", .seconds(1)))
        #expect(
            StopProgress([killed], isForced: true).line()
                == "waiting for api (its main process is gone, SIGKILL sent 1 s ago)")
    }

    @Test("nothing to wait for is nothing to say")
    func nothing() { #expect(StopProgress([]).line() == nil) }

    @Test("a time that is past is now, not before now")
    func late() {
        let late = StopProgress.Waiting("a", pid: 1, next: .init("SIGKILL", .milliseconds(-5)))
        #expect(
            StopProgress([late], isForced: true).line() == "waiting for a (pid 1, SIGKILL in 0 s)")
    }

    @Test("as many services as fit, then how many more; never wider than the terminal")
    func width() throws {
        let many = StopProgress((Int32(1)...50).map { .init("service\($0)", pid: $0) })
        #expect(
            many.line() == "waiting for service1 (pid 1), service2 (pid 2), service3 (pid 3), "
                + "service4 (pid 4) and 46 more; press Ctrl-C again to kill")
        #expect(
            many.line(width: 80) == "waiting for service1 (pid 1) and 49 more; "
                + "press Ctrl-C again to kill")
        #expect(many.line(width: 50) == "waiting for service1 (pid 1) and 49 more")
        for width in 2...120 {
            #expect(displayWidth(try #require(many.line(width: width))) <= width)
        }
    }

    @Test("a name cannot draw on the terminal")
    func safe() throws {
        let line = try #require(StopProgress([.init("a\u{1B}[31m", pid: 1)]).line())
        #expect(!line.contains("\u{1B}"))
    }
}
