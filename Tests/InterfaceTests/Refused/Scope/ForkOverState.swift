// why: a fork runs beside the body, and both would change what is not `Sendable`.
// error: capture of 'counter' with non-Sendable type 'Counter' in a '@Sendable' closure
import Stoic

final class Counter { var count = 0 }

func forkOverState(_ counter: Counter) async {
    await withScope("import") { (scope: borrowing Scope) in
        #if CORRECTED
            counter.count += 1
            scope.fork("count") {}
        #else
            scope.fork("count") { counter.count += 1 }
        #endif
    }
}
