// why: services that nobody started would be read.
// error: 'Services' initializer is inaccessible due to 'internal' protection level
import Stoic

func servicesByHand(_ graph: ServiceGraph) async throws -> Services {
    #if CORRECTED
        try await graph.run { services in services }
    #else
        Services()
    #endif
}
