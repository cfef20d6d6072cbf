import EventLoop
import Glibc
import Testing

@Suite("Queued work", .timeLimit(.minutes(1)))
struct QueuedWorkTests {
    @Test("LOOP-25: the loop runs on until queued work was delivered, on the loop's thread")
    func delivered() throws {
        let loop = try Loop()
        let own = pthread_self()
        var results: [String] = []
        var turns = 0
        loop.onTurnEnd { turns += 1 }
        for number in 0..<8 {
            try queueWork(loop, { (number, pthread_self()) }) { number, thread in
                #expect(pthread_equal(pthread_self(), own) != 0)
                #expect(pthread_equal(thread, own) == 0)
                results.append("\(number)")
            }
        }
        #expect(results.isEmpty)
        try loop.run()
        #expect(results.sorted() == (0..<8).map { "\($0)" })
        #expect(turns >= 2)
        loop.close()
    }

    @Test("work may queue more work when it is delivered, and its captures end with it")
    func chained() throws {
        let loop = try Loop()
        var results: [Int] = []
        weak var captured: Token?
        do {
            let token = Token()
            captured = token
            try queueWork(loop, { 1 }) { first in
                withExtendedLifetime(token) { results.append(first) }
                do {
                    try queueWork(loop, { first + 1 }) { results.append($0) }
                } catch { Issue.record(error) }
            }
        }
        #expect(captured != nil)
        try loop.run()
        #expect(results == [1, 2])
        #expect(captured == nil)
        loop.close()
    }
}
