import StoicTesting
import Testing

@testable import Stoic

@Suite("Ambient, of a detached task", .timeLimit(.minutes(5)))
struct DetachedTests {
    @Test("AMB-3: a detached task has the defaults, silent as nobody can know of it")
    func defaults() async {
        let recorder = EventRecorder()
        await withAmbient {
            $0.random = .seeded(99)
            $0.instrumentation = recorder
        } operation: {
            let random = await Task.detached { Ambient.current.random }.value
            #expect(random == .system)
            #expect(Ambient.current.random == .seeded(99))
        }
        #expect(recorder.names == [])
    }
}
