// why: a service is used by many tasks at once.
// error: type 'Cache' does not conform to the 'Sendable' protocol
import Stoic

#if CORRECTED
    final class Cache: Sendable {}
#else
    final class Cache {}
#endif

func cacheKey() -> String {
    ServiceKey<Cache>("cache").name
}
