// why: a line without a bound grows until the process dies.
// error: missing argument for parameter 'queue' in call
import Stoic

func lineWithoutBound() -> Semaphore {
    #if CORRECTED
        Semaphore(limit: 8, queue: 4)
    #else
        Semaphore(limit: 8)
    #endif
}
