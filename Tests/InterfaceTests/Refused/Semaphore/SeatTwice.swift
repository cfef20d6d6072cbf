// why: the second release would let one more in than the semaphore allows.
// error: 'permit' consumed more than once
import Stoic

func seatTwice(_ seats: Semaphore) async throws {
    let permit = try await seats.acquire()
    permit.release()
    #if !CORRECTED
        permit.release()
    #endif
}
