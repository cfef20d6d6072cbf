// why: a task may outlive the body, and what it opened in the scope would never be closed.
// error: 'scope' cannot be captured by an escaping closure since it is a borrowed parameter
import Stoic

func scopeInTask() async {
    await withScope("import") { (scope: borrowing Scope) in
        #if CORRECTED
            scope.fork("progress") {}
        #else
            Task { scope.fork("progress") {} }
        #endif
    }
}
