import Synchronization
import Testing

@testable import Stoic

private struct Trouble: Error {}

@Suite("race, mapConcurrent, on real threads", .timeLimit(.minutes(5)))
struct ConcurrencyRaceTests {
    @Test("CON-4: nothing runs on after a cancelled call")
    func cancelledMap() async {
        await silently {
            for round in 0..<300 {
                let count = Count()
                let task = Task {
                    try await forEachConcurrent(0..<Int.max, limit: 4) { _ in
                        count.enter()
                        await Task.yield()
                        count.leave()
                    }
                }
                for _ in 0..<(round % 40) { await Task.yield() }
                task.cancel()
                await #expect(throws: CancellationError.self) { try await task.value }
                #expect(count.now == 0 && count.most <= 4)
            }
        }
    }

    @Test("CON-2: contestants end at once, fail and win: one value, and nobody runs on")
    func races() async {
        let running = Count()
        await atOnce { random in
            for round in 0..<50 {
                let failing = Int.random(in: 0...7, using: &random)
                let pauses = (0..<6).map { _ in Int.random(in: 0...3, using: &random) }
                let call = Task {
                    try await race(Array(0..<6)) { number in
                        running.enter()
                        defer { running.leave() }
                        for _ in 0..<pauses[number] { await Task.yield() }
                        if number < failing { throw Trouble() }
                        return number
                    }
                }
                if round % 3 == 0 {
                    await giveWay(6, &random)
                    call.cancel()
                }
                do {
                    let winner = try await call.value
                    #expect(winner >= failing)
                } catch let failure as ConcurrentFailure<any Error> {
                    #expect(failing >= 6 && failure.all.count == 6)
                } catch is CancellationError {
                    #expect(round % 3 == 0)
                } catch {
                    Issue.record("\(error)")
                }
            }
        }
        #expect(running.now == 0)
    }

    @Test("a failure stops the rest, and every result of the others is there")
    func maps() async {
        await atOnce(4) { random in
            for _ in 0..<50 {
                let failing = Int.random(in: 0..<64, using: &random)
                do {
                    let doubled = try await mapConcurrent(0..<32, limit: 5) { number in
                        await Task.yield()
                        if number == failing { throw Trouble() }
                        return number * 2
                    }
                    #expect(failing >= 32 && doubled == (0..<32).map { $0 * 2 })
                } catch let failure as ConcurrentFailure<any Error> {
                    #expect(failing < 32 && failure.all.count == 1)
                } catch {
                    Issue.record("\(error)")
                }
            }
        }
    }
}
