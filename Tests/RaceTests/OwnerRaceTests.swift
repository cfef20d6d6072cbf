import Synchronization
import Testing

@testable import Stoic

private struct Trouble: Error {}

@Suite("scopes, supervisors and machines, on real threads", .timeLimit(.minutes(5)))
struct OwnerRaceTests {
    @Test("a scope: forks begin, fail and end while its caller is cancelled; nothing is left")
    func scopes() async {
        let live = Count()
        await atOnce { random in
            for round in 0..<60 {
                let failing = Int.random(in: 0..<8, using: &random)
                let call = Task {
                    try await withScope("s") { (scope: borrowing Scope) async throws -> Void in
                        scope.onExit("end") { _ in await Task.yield() }
                        for number in 0..<4 {
                            scope.fork("f") {
                                live.enter()
                                defer { live.leave() }
                                await Task.yield()
                                if number == failing { throw Trouble() }
                            }
                        }
                        await Task.yield()
                    }
                }
                if round % 3 == 0 {
                    await giveWay(6, &random)
                    call.cancel()
                }
                _ = await call.result
            }
        }
        #expect(live.now == 0)
    }

    @Test("a supervisor: children end, fail and are added while it stops; nothing is left")
    func supervisors() async {
        let live = Count()
        await atOnce { random in
            for round in 0..<30 {
                let lives = Int.random(in: 0...4, using: &random)
                let call = Task { try await Self.supervise(live, lives, fails: round % 2 == 0) }
                if round % 3 == 0 {
                    await giveWay(12, &random)
                    call.cancel()
                }
                _ = await call.result
            }
        }
        #expect(live.now == 0 && live.total > 0)
    }

    private static func supervise(_ live: Count, _ lives: Int, fails: Bool) async throws {
        var rules = Supervision(
            strategy: .restForOne, intensity: SupervisionIntensity(5, in: .seconds(60)))
        rules.backoff = .spaced(.microseconds(10))
        try await withSupervisor("s", rules) { (supervisor: borrowing Supervisor) in
            for _ in 0..<3 {
                try supervisor.add(
                    ChildSpec("child") {
                        live.enter()
                        defer { live.leave() }
                        for _ in 0..<lives { await Task.yield() }
                        if fails { throw Trouble() }
                    })
                await Task.yield()
            }
        }
    }

    private enum Lamp: CaseIterable, Hashable, Sendable { case dark, lit, broken }
    private enum Press: CaseIterable, Hashable, Sendable { case toggle, smash }

    private static func press(_ machine: StateMachine<Lamp, Press>, smashes: Bool) async {
        for number in 0..<8 {
            let press: Press = smashes && number == 7 ? .smash : .toggle
            do { try machine.send(press) } catch { Issue.record("\(error)") }
            await Task.yield()
        }
    }

    @Test("a state machine: events come from everywhere, and it ends once")
    func machines() async throws {
        let table = try TransitionTable<Lamp, Press>(
            "lamp", initial: .dark, final: [.broken],
            [
                .move(from: [.dark], on: [.toggle], to: .lit),
                .move(from: [.lit], on: [.toggle], to: .dark),
                .move(from: [.dark, .lit], on: [.smash], to: .broken),
            ])
        await atOnce(4) { random in
            for _ in 0..<40 {
                let machine = StateMachine(table)
                let run = Task { try await machine.run() }
                let waiter = Task { try await machine.wait(for: .lit) }
                await withTaskGroup { group in
                    for sender in 0..<3 {
                        group.addTask { await Self.press(machine, smashes: sender == 0) }
                    }
                }
                let ended = await run.result
                #expect(throws: Never.self) { try ended.get() == .broken }
                #expect(machine.state == .broken)
                _ = await waiter.result
            }
        }
    }
}
