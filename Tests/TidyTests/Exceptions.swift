/// What must break a rule, each with its reason. One that excuses nothing any more is a failure.
struct Exemption: Sendable {
    let rule: String
    let path: String
    let reason: String
}

extension Exemption {
    static let all: [Exemption] = [
        Exemption(
            rule: "file-length", path: "CShims/CLifecycle/CLifecycle.c",
            reason: "a daemon copies one header and one source; two sources are one to forget"),
        Exemption(
            rule: "imports", path: "Sources/Stoic/Instrumentation/BackgroundWriter.swift",
            reason: "the default sink writes to standard error on a thread of its own"),
        Exemption(
            rule: "function-shape", path: "Sources/Stoic/Graph/Provide.swift",
            reason: "a service is declared in one place, most of it by defaults"),
        Exemption(
            rule: "function-shape", path: "Sources/Stoic/Supervisor/ChildSpec.swift",
            reason: "a child is declared in one place, most of it by defaults"),
        Exemption(
            rule: "function-shape", path: "Sources/Orchestrator/Engine/CommandRun.swift",
            reason: "two of its six are the closures it ends with"),
        Exemption(
            rule: "sleep", path: "Tests/Fixtures/graceful/async/Fixture.swift",
            reason: "it stands for code that blocks a thread for good"),
        Exemption(
            rule: "sleep", path: "Tests/Fixtures/floor/floor.c",
            reason: "a measurement begins when what it measures has come to rest"),
        Exemption(
            rule: "sleep", path: "Tests/Fixtures/floor/rerun.c",
            reason: "a measurement begins when what it measures has come to rest"),
        Exemption(
            rule: "sleep", path: "Tests/Fixtures/floor/wakeups.c",
            reason: "it counts what happens while nothing is asked"),
        Exemption(
            rule: "unchecked", path: "Sources/Stoic/Runtime/ChildTask.swift",
            reason: "a body that is not Sendable runs in one child task, which is awaited"),
        Exemption(
            rule: "detached-task", path: "Tests/StoicTests/Ambient/DetachedTests.swift",
            reason: "the row says what a detached task inherits: nothing"),
        Exemption(
            rule: "function-shape", path: "Sources/Stoic/Retry/Retry.swift",
            reason: "what a caller of retry may choose has a name and a default each"),
        Exemption(
            rule: "function-shape", path: "Sources/Stoic/Concurrency/MapConcurrent.swift",
            reason: "what a caller of mapConcurrent may choose has a name and a default each"),
        Exemption(
            rule: "function-shape", path: "Sources/Stoic/Policies/Pipeline.swift",
            reason: "what a caller of its retry may choose has a name and a default each"),
        Exemption(
            rule: "function-shape", path: "Sources/Stoic/Policies/RateLimiter.swift",
            reason: "a rate, its time and its burst are three numbers, and none has a default"),
    ]

    /// The findings that no exemption covers.
    static func uncovered(_ findings: [Finding], by exemptions: [Exemption] = all) -> [Finding] {
        findings.filter { finding in
            !exemptions.contains { $0.rule == finding.rule && $0.path == finding.path }
        }
    }
}
