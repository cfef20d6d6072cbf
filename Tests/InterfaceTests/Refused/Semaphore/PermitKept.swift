// why: a collection copies, and each copy would give the permit back.
// error: requires that 'Semaphore.Permit' conform to 'Copyable'
import Stoic

func permitKept(_ seats: Semaphore) async throws {
    let permit = try await seats.acquire()
    #if CORRECTED
        permit.release()
    #else
        let permits = [permit]
        _ = permits.count
    #endif
}
