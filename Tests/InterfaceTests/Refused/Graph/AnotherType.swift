// why: a key says what its service is, so no cast can fail while the program runs.
// error: cannot convert value of type 'String' to specified type 'Int'
import Stoic

func readAsAnotherType(_ services: Services, _ key: ServiceKey<String>) -> Int {
    #if CORRECTED
        let count: Int = services[key].count
    #else
        let count: Int = services[key]
    #endif
    return count
}
