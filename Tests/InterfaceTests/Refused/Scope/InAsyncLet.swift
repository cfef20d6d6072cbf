// why: it runs beside the body, which may end the scope first.
// error: 'scope' cannot be captured by an escaping closure since it is a borrowed parameter
import Stoic

func scopeInAsyncLet() async -> Int {
    await withScope("import") { (scope: borrowing Scope) in
        #if CORRECTED
            async let count = 1
            return await count + scope.abandonedWork
        #else
            async let count = scope.abandonedWork
            return await count
        #endif
    }
}
