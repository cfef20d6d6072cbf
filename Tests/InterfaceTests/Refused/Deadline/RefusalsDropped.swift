// why: a policy may refuse, and who calls it says what becomes of that.
// error: thrown expression type 'any Error' cannot be converted to error type 'Bad'
import Stoic

enum Bad: Error { case bad }

func refusalsDropped() async throws(Bad) {
    #if CORRECTED
        try await withDeadline(.in(.seconds(1))) { () async throws(Bad) in throw .bad }
    #else
        try await withTimeout(.seconds(1)) { () async throws(Bad) in throw .bad }
    #endif
}
