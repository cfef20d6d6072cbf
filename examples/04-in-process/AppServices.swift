import Stoic

/// The services of the app itself: they live from launch to quit.
struct AppServices {
    static let database = ServiceKey<Database>("database")
    // Two services of one type: what tells them apart is the key, not the type.
    static let pages = ServiceKey<Cache>("page cache")
    static let pictures = ServiceKey<Cache>("picture cache")

    let graph: ServiceGraph
    let faults: Faults

    /// Checks the graph; nothing starts.
    init(_ faults: Faults) throws(ServiceGraphError) {
        self.faults = faults
        graph = try ServiceGraph(label: "app") {
            Provide(Self.database) { _ in
                try await Database.open(faults)
            } stop: { database, exit in
                await database.close(exit)
            }
            // Neither needs the other, so they start side by side.
            for key in [Self.pages, Self.pictures] {
                Provide(key, needs: [Self.database.any], stopTimeout: .seconds(1)) { services in
                    try await Cache.warmUp(key.name, from: services[Self.database], faults)
                } stop: { cache, _ in
                    await cache.flush()
                }
            }
        }
    }
}
