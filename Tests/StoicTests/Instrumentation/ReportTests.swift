import StoicTesting
import Testing

@testable import Stoic

@Suite("reports", .timeLimit(.minutes(5)))
struct ReportTests {
    struct Bug: Defect {}

    @Test(
        "INS-6: every kind of failure has its kind and its code",
        arguments: [
            (CancellationError() as any Error, "cancellation", "cancelled"),
            (Bug(), "defect", "error.Bug"),
            (Broken(what: "x"), "failure", "error.Broken"),
            (SystemError(errno: 111, in: "connect"), "failure", "system.ECONNREFUSED"),
            (SystemError(errno: 9, in: "read").thrown, "defect", "system.EBADF"),
            (
                PolicyError<Broken>.rejected(.breakerOpen(retryAfter: .seconds(3))), "rejection",
                "rejected.breakerOpen"
            ),
            (PolicyError<Broken>.failed(Broken(what: "x")), "failure", "error.Broken"),
            (
                ConcurrentFailure<any Error>(SystemError(errno: 2, in: "open"), [Bug()]), "failure",
                "system.ENOENT"
            ),
        ])
    func kinds(error: any Error, kind: String, code: String) {
        let report = Report(error)
        #expect(report.kind.rawValue == kind)
        #expect(report.code == code)
        #expect(!report.text.isEmpty)
    }

    @Test("INS-6: a report says where, what was tried, and what to do, as text and as JSON")
    func whole() async throws {
        try await simulate { world in
            let report = await withScope("import") { (_: borrowing Scope) async in
                emit(.retryScheduled, .info, [.init("attempt", 1)])
                return Report(
                    SystemError(errno: 111, in: "connect"), steps: world.events.events.suffix(1))
            }
            #expect(
                report.text == """
                    failure: connect: nobody listens there (ECONNREFUSED) [system.ECONNREFUSED]
                      in import
                      then info import retry.scheduled attempt=1
                      try again
                    """)
            #expect(
                report.json == """
                    {"kind":"failure","code":"system.ECONNREFUSED",\
                    "cause":"connect: nobody listens there (ECONNREFUSED)","path":["import"],\
                    "steps":[{"event":"retry.scheduled","level":"info","at":0.0,\
                    "scope":["import"],"fields":{"attempt":1}}],"advice":"try again"}
                    """)
        }
    }
}
