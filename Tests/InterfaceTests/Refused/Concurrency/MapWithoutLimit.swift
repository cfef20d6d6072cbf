// why: how many run at once is a decision, and no default is right.
// error: missing argument for parameter 'limit' in call
import Stoic

func mapWithoutLimit(_ names: [String]) async throws -> [String] {
    #if CORRECTED
        try await mapConcurrent(names, limit: 8) { $0 }
    #else
        try await mapConcurrent(names) { $0 }
    #endif
}
