import Testing

@testable import OrchestratorCLI
@testable import Stoic

@Suite("up", .timeLimit(.minutes(1)))
struct UpTests {
    @Test("the command line of the background half")
    func detached() throws {
        let words = ["-f", "a.yaml", "--json", "up", "-d", "--wait=5s", "api", "--", "-odd"]
        guard case .run(let invocation) = try ArgumentParser.parse(words) else { return }
        let line = DetachedLaunch.commandLine(invocation)
        #expect(
            line == [
                "orchestrator", "--file=a.yaml", "--json", "up", "--detached-child", "--wait", "--",
                "api", "-odd",
            ])
        guard case .run(let child) = try ArgumentParser.parse(Array(line.dropFirst())) else {
            Issue.record("the child cannot read its command line")
            return
        }
        #expect(
            child.has(.detachedChild) && child.has(.wait) && child.arguments == ["api", "-odd"])
    }

    struct Row: Sendable {
        var outcome: ProjectOutcome
        var code: Int32
    }

    private static func outcome(
        _ cause: StopCause, failed: Int = 0, abandoned: Int = 0, essential: Stoic.ExitStatus? = nil
    ) -> ProjectOutcome {
        ProjectOutcome(
            cause: cause, failed: (0..<failed).map { ServiceID(slot: $0) },
            abandoned: (0..<abandoned).map { ServiceID(slot: $0) }, wasForced: false,
            essentialStatus: essential)
    }

    static let rows = [
        Row(outcome: outcome(.allEnded), code: 0),
        Row(outcome: outcome(.requested("down by uid 1000")), code: 0),
        Row(outcome: outcome(.signal(15)), code: 0),
        Row(outcome: outcome(.signal(2)), code: 130),
        Row(outcome: outcome(.signal(2), failed: 1), code: 1),
        Row(outcome: outcome(.startFailed(ServiceID(slot: 0))), code: 1),
        Row(outcome: outcome(.allEnded, failed: 1), code: 1),
        Row(outcome: outcome(.allEnded, failed: 1, abandoned: 1), code: 3),
        Row(
            outcome: outcome(.essentialEnded(ServiceID(slot: 0)), failed: 1, essential: .code(42)),
            code: 42),
        Row(
            outcome: outcome(
                .essentialEnded(ServiceID(slot: 0)), essential: .signal(9, coreDumped: false)),
            code: 137),
        Row(outcome: outcome(.essentialEnded(ServiceID(slot: 0)), essential: .code(0)), code: 0),
        Row(outcome: outcome(.essentialEnded(ServiceID(slot: 0)), essential: .unknown), code: 1),
    ]

    @Test(
        "CLI-18: the first that holds: survivors, the essential one's own, failed, Ctrl-C, done",
        arguments: rows)
    func exitCode(_ row: Row) { #expect(ExitCode(of: row.outcome).number == row.code) }

    @Test("the essential one's own code is never taken for ours", arguments: [1, 3, 64, 130])
    func ownCode(_ code: Int32) {
        let outcome = Self.outcome(
            .essentialEnded(ServiceID(slot: 0)), failed: 1, essential: .code(code))
        #expect(ExitCode(of: outcome) == .essential(code))
    }
}
