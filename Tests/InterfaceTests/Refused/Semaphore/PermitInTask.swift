// why: whether the task has begun is unknown, so nobody could tell who gives the permit back.
// error: noncopyable 'permit' cannot be consumed when captured by an escaping closure
import Stoic

func permitInTask(_ seats: Semaphore) async throws {
    let permit = try await seats.acquire()
    #if CORRECTED
        permit.release()
    #else
        Task { permit.release() }
    #endif
}
