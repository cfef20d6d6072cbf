// why: a fork that ignores its cancellation is left behind and outlives the scope; it registers
// finalizers through `cleanup`, which refuses them then.
// error: 'scope' cannot be captured by an escaping closure since it is a borrowed parameter
import Stoic

func scopeInFork() async {
    await withScope("import") { (scope: borrowing Scope) in
        #if CORRECTED
            let cleanup = scope.cleanup
            scope.fork("part") { cleanup.onExit("close") { _ in } }
        #else
            scope.fork("part") { scope.onExit("close") { _ in } }
        #endif
    }
}
