// why: a retry without an end is a storm; work that has to run for ever has a supervisor.
// error: 'nil' is not compatible with expected argument type 'Int'
import Stoic

func endlessRetry() async throws {
    #if CORRECTED
        try await retry(.immediate, attempts: 10_000) { _ in try Task.checkCancellation() }
    #else
        try await retry(.immediate, attempts: nil) { _ in try Task.checkCancellation() }
    #endif
}
