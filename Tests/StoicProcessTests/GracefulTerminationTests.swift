import Glibc
import Testing

@Suite("GracefulTermination", .serialized, .timeLimit(.minutes(2)))
struct GracefulTerminationTests {
    @Test(
        "TRM-1: a signal ends every kind of program well, 200 times",
        arguments: GracefulProgram.Main.allCases)
    func twoHundred(main: GracefulProgram.Main) throws {
        for round in 0..<200 {
            let program = try GracefulProgram(main, "good")
            #expect(try program.wait(for: "up"))
            let signal = [SIGTERM, SIGINT, SIGHUP][round % 3]
            program.signal(signal)
            let code = try program.end()
            #expect(code == 0, "round \(round): \(program.lines)")
            #expect(
                program.lines == [
                    "up", "cause signal \(signal)", "stopping cancelled(signal \(signal))",
                    "stopped",
                ], "round \(round)")
        }
    }

    @Test("TRM-2: a second signal at once is the same request; a later one cuts the stop short")
    func impatience() throws {
        let program = try GracefulProgram(.async, "hangs")
        #expect(try program.wait(for: "up"))
        program.signal(SIGTERM)
        program.signal(SIGTERM)
        #expect(try program.wait(for: "stopping cancelled(signal 15)"))
        #expect(!program.lines.contains { $0.contains("stopTimedOut") })
        let begin = ContinuousClock.now
        // Past the time in which signals are one request: the next is impatience.
        while ContinuousClock.now - begin < .milliseconds(600) { sched_yield() }
        program.signal(SIGTERM)
        let code = try program.end()
        #expect(code == 0)
        #expect(ContinuousClock.now - begin < .seconds(9))
        #expect(program.lines.contains { $0.contains("service.stopTimedOut") })
    }

    @Test(
        "TRM-3: a stop that ignores everything is left behind, and the process ends in its budget")
    func deafStop() throws {
        let program = try GracefulProgram(.async, "blocks")
        #expect(try program.wait(for: "up"))
        let begin = ContinuousClock.now
        program.signal(SIGTERM)
        let code = try program.end()
        #expect(code == 0)
        #expect(ContinuousClock.now - begin < .seconds(6))
        #expect(program.lines.contains { $0.contains("service.stopAbandoned") })
    }

    @Test("TRM-4: a body that blocks every thread is ended by the last resort, with its own code")
    func blockedPool() throws {
        let program = try GracefulProgram(.async, "starves")
        #expect(try program.wait(for: "up"))
        let begin = ContinuousClock.now
        program.signal(SIGTERM)
        let code = try program.end()
        #expect(code == 75)
        #expect(ContinuousClock.now - begin < .seconds(9))
        #expect(program.lines.last?.hasPrefix("the stop took longer than its budget") == true)
    }

    @Test(
        "TRM-5: a body that fails ends the process with 1 and a report",
        arguments: [.async, .sync] as [GracefulProgram.Main])
    func failure(main: GracefulProgram.Main) throws {
        let program = try GracefulProgram(main, "fails")
        #expect(try program.end() == 1)
        #expect(program.lines.last == "failure: Failed() [error.Failed]")
        #expect(program.lines.contains("stopped"))
    }

    @Test("TRM-6: a signal that was ignored when the process began stays ignored")
    func ignoredBefore() throws {
        let program = try GracefulProgram(.async, "good", ignoring: SIGHUP)
        #expect(try program.wait(for: "up"))
        program.signal(SIGHUP)
        program.signal(SIGTERM)
        #expect(try program.end() == 0)
        #expect(program.lines.contains("cause signal 15"))
    }

    @Test("TRM-7: SIGQUIT says what the services do, and ends the process as it always did")
    func quit() throws {
        let program = try GracefulProgram(.async, "good")
        #expect(try program.wait(for: "up"))
        program.signal(SIGQUIT)
        #expect(try program.end() == -SIGQUIT)
        #expect(program.lines.contains("SIGQUIT: fixture"))
        #expect(program.lines.contains("  service is up"))
    }

    @Test("TRM-8: a signal during the start rolls back, and is no failure of the process")
    func duringStart() throws {
        let program = try GracefulProgram(.async, "slow-start")
        #expect(try program.wait(for: "starting"))
        program.signal(SIGTERM)
        #expect(try program.end() == 0)
        let said = program.lines.filter { !$0.hasPrefix("info ") }
        #expect(said == ["starting", "start cancelled: signal 15"])
        #expect(program.lines.contains { $0.contains("service.startCancelled service=service") })
    }

    @Test(
        "TRM-9: a program that begins with every signal blocked hears them all the same",
        arguments: GracefulProgram.Main.allCases)
    func blockedBefore(main: GracefulProgram.Main) throws {
        let program = try GracefulProgram(main, "good", blocked: true)
        #expect(try program.wait(for: "up"))
        program.signal(SIGTERM)
        #expect(try program.end() == 0)
        #expect(program.lines.contains("stopped"))
    }
}
