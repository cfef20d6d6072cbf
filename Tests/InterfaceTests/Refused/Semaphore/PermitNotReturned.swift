// why: who was given a permit to change hands it back, or its owner would hold none.
// error: missing reinitialization of inout parameter 'permit' after consume
import Stoic

func renew(_ permit: inout Semaphore.Permit, from seats: Semaphore) async throws {
    #if CORRECTED
        let next = try await seats.acquire()
        permit = next
    #else
        permit.release()
        permit = try await seats.acquire()
    #endif
}
