// why: nothing has started: only what `run` lends to its body has services in it.
// error: value of type 'ServiceGraph' has no subscripts
import Stoic

func readBeforeItRuns(_ key: ServiceKey<String>) async throws -> String {
    let graph = try ServiceGraph(label: "app") { Provide(key) { _ in "open" } }
    #if CORRECTED
        return try await graph.run { services in services[key] }
    #else
        return graph[key]
    #endif
}
