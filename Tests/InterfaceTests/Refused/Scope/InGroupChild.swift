// why: children of a group are awaited, but not by the scope: it would close under them.
// error: 'scope' cannot be captured by an escaping closure since it is a borrowed parameter
import Stoic

func scopeInGroupChild() async {
    await withTaskGroup(of: Void.self) { group in
        await withScope("import") { (scope: borrowing Scope) in
            #if CORRECTED
                group.addTask {}
                scope.fork("part") {}
            #else
                group.addTask { scope.fork("part") {} }
            #endif
        }
    }
}
