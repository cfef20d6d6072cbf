// why: a handle that is kept could be used after its scope has closed.
// error: implicit conversion to 'Scope?' is consuming
import Stoic

final class ScopeKeeper {
    #if CORRECTED
        private var kept: Scope.Cleanup?
    #else
        private var kept: Scope?
    #endif

    func keep() async {
        await withScope("import") { (scope: borrowing Scope) in
            #if CORRECTED
                kept = scope.cleanup
            #else
                kept = scope
            #endif
        }
    }
}
