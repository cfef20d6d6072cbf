import EventLoop
import Glibc
internal import Orchestrator

extension CommandRun {
    /// `wait`: returns when a service got there, or cannot any more, or the time has passed.
    ///
    /// In `up & wait …` the engine may not answer yet: it is given a moment, unless the project is
    /// asked to be stopped.
    func wait() throws(Failure) -> ExitCode {
        let limit = invocation.duration(.timeout) ?? .seconds(3_600)
        let access = try engineAccess()
        let begin = awakeTime()
        let patience = min(limit, Self.engineAppearance)
        var client = try access.connectIfRunning()
        while client == nil, invocation.text(.condition) != "stopped",
            awakeTime() - begin < patience
        {
            poll(nil, 0, Self.lookEvery)
            client = try engineAccess().connectIfRunning()
        }
        guard let client else { return try follow(call(limit), of: access, on: access.connect()) }
        let waited = awakeTime() - begin
        // The limit is named in the answer: a connection made at once takes nothing off it.
        let left = waited < Self.atOnce ? limit : max(.milliseconds(1), limit - waited)
        return try follow(call(left), of: access, on: client)
    }

    /// What finding an engine that runs may take.
    private static var atOnce: Duration { .milliseconds(100) }
    /// How long an engine that is just being started has to answer.
    private static var engineAppearance: Duration { .seconds(5) }
    /// How often it is looked for meanwhile, in milliseconds.
    private static var lookEvery: CInt { 20 }

    private func call(_ timeout: Duration) -> EngineCall {
        var asked = invocation
        asked.options[.timeout] = .duration(timeout)
        return EngineCall(asked)
    }
}
