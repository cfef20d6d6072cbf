// why: the operations of a race run beside each other, and both would change the same value.
// error: mutation of captured var 'count' in concurrently-executing code
import Stoic

func raceOverState() async throws -> Int {
    #if CORRECTED
        let count = 0
        return try await race({ count + 1 }, { count + 2 })
    #else
        var count = 0
        try await race({ count += 1 }, { count += 2 })
        return count
    #endif
}
