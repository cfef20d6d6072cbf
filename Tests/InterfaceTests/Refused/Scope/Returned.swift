// why: a handle that is returned could be used after its scope has closed.
// error: requires that 'Scope' conform to 'Copyable'
import Stoic

func scopeReturned() async {
    #if CORRECTED
        let kept: Scope.Cleanup = await withScope("import") { (scope: borrowing Scope) in
            scope.cleanup
        }
        kept.onExit("late") { _ in }
    #else
        let kept: Scope = await withScope("import") { (scope: borrowing Scope) in
            return scope
        }
        kept.onExit("late") { _ in }
    #endif
}
