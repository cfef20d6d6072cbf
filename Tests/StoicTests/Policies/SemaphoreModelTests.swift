import StoicTesting
import Testing

@testable import Stoic

/// The line against an array, and the semaphore against the rules in words.
@Suite("Semaphore, model", .timeLimit(.minutes(20)))
struct SemaphoreModelTests {
    enum LineCommand: Sendable {
        case join
        case leave(Int)
        case removeFirst
    }

    @Test("the line behaves like an array, and reuses its places")
    func line() throws {
        let check = ModelCheck<LineCommand>(
            length: 200,
            command: { random in
                switch Int.random(in: 0..<5, using: &random) {
                case 0, 1: .join
                case 2: .removeFirst
                default: .leave(Int.random(in: 0..<40, using: &random))
                }
            },
            disagreement: { commands in
                var line = WaitLine<Int>()
                var model: [Int] = []
                var tickets: [WaitLine<Int>.Ticket] = []
                for command in commands {
                    switch command {
                    case .join:
                        model.append(tickets.count)
                        tickets.append(line.append(tickets.count))
                    case .leave(let number) where number < tickets.count:
                        let expected = model.firstIndex(of: number).map { model.remove(at: $0) }
                        if line.remove(tickets[number]) != expected { return "leave \(number)" }
                    case .leave:
                        break
                    case .removeFirst:
                        let expected = model.isEmpty ? nil : model.removeFirst()
                        if line.removeFirst() != expected { return "first" }
                    }
                    if line.count != model.count { return "count \(line.count)" }
                    if line.first.flatMap({ line[$0] }) != model.first { return "who is first" }
                }
                return nil
            })
        try check.check(seeds: 0..<2_000)
    }

    @Test("a disagreement is shrunk to the fewest commands")
    func shrinks() throws {
        let check = ModelCheck<Int>(
            command: { Int.random(in: 0..<10, using: &$0) },
            disagreement: { $0.filter { $0 == 7 }.count >= 2 ? "two sevens" : nil })
        let error = #expect(throws: Counterexample<Int>.self) { try check.check(seeds: 0..<50) }
        #expect(error?.commands == [7, 7])
    }

    /// What the callers of one semaphore do, each in its own time.
    struct Caller: Sendable {
        let arrives: Int
        let patience: Int?
        let holds: Int
        let cancelledAfter: Int?
    }

    @Test("any callers, any order: at most `limit` hold, everybody ends, all permits are back")
    func callers() async throws {
        try await explore(seeds: 126) { world in
            let seed = world.seed
            var random = RandomSource.seeded(seed)
            let limit = Int.random(in: 1...3, using: &random)
            let queue = Int.random(in: 0...4, using: &random)
            let callers = (0..<Int.random(in: 1...12, using: &random)).map { _ in
                Caller(
                    arrives: .random(in: 0...6, using: &random),
                    patience: Bool.random(using: &random)
                        ? .random(in: 0...6, using: &random) : nil,
                    holds: .random(in: 0...6, using: &random),
                    cancelledAfter: Int.random(in: 0...3, using: &random) == 0
                        ? .random(in: 0...10, using: &random) : nil)
            }
            try await run(callers, Semaphore(limit: limit, queue: queue), world)
        }
    }

    private func run(
        _ callers: [Caller], _ semaphore: Semaphore, _ world: SimulatedWorld
    ) async throws {
        let tasks = callers.map { caller in
            spawn {
                do {
                    try await world.clock.sleep(for: .seconds(caller.arrives))
                    let permit = try await semaphore.acquire(
                        within: caller.patience.map { .seconds($0) })
                    #expect(semaphore.available < semaphore.limit)
                    #expect(semaphore.waiting <= semaphore.queue)
                    try await world.clock.sleep(for: .seconds(caller.holds))
                    permit.release()
                } catch {}
            }
        }
        let cancellers = zip(callers, tasks).compactMap { caller, task in
            caller.cancelledAfter.map { after in
                spawn {
                    do { try await world.clock.sleep(for: .seconds(after)) } catch {}
                    task.cancel()
                }
            }
        }
        for task in tasks + cancellers { await task.value }
        #expect(semaphore.available == semaphore.limit)
        #expect(semaphore.waiting == 0)
        #expect(world.clock.now.sinceOrigin <= .seconds(6 + 12 * 6))
    }
}
