// why: what a start returns is what its key promises.
// error: cannot convert
import Stoic

func startAnotherType(_ key: ServiceKey<Int>) -> Provide {
    #if CORRECTED
        Provide(key) { _ in 7 }
    #else
        Provide(key) { _ in "seven" }
    #endif
}
