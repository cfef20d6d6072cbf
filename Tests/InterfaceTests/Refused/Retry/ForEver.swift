// why: there is no spelling of "for ever", as a schedule has.
// error: type 'Int' has no member 'forever'
import Stoic

func foreverRetry() async throws {
    #if CORRECTED
        try await retry(.immediate, attempts: 10_000) { _ in try Task.checkCancellation() }
    #else
        try await retry(.immediate, attempts: .forever) { _ in try Task.checkCancellation() }
    #endif
}
