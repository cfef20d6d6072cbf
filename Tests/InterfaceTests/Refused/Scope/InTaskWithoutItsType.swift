// why: as `InTask`. Where the type of the parameter is not written this compiler crashes instead of
// refusing it, which the documentation warns of. Nothing is built, and that is what counts.
// error: any
import Stoic

func scopeInTaskWithoutItsType() async {
    await withScope("import") { scope in
        #if CORRECTED
            scope.fork("progress") {}
        #else
            Task { scope.fork("progress") {} }
        #endif
    }
}
