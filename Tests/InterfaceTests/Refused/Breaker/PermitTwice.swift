// why: a call ends once; the breaker would count it as both.
// error: 'permit' consumed more than once
import Stoic

func breakerTwice(_ breaker: CircuitBreaker, answered: Bool) throws {
    let permit = try breaker.admit()
    #if CORRECTED
        if answered { permit.succeed() } else { permit.fail() }
    #else
        if answered { permit.succeed() }
        permit.fail()
    #endif
}
