@testable import Stoic

/// Every plan that changes a small graph in one place.
enum SmallPlan {
    /// Plans over `specs`: each service changed, updated or removed, one added above or below each,
    /// an edge more or less, and everything as it was; each to be kept and to be rolled back.
    static func all(_ specs: [ServiceSpec]) -> [Plan] {
        var variants = [specs]
        for index in specs.indices {
            var changed = specs
            changed[index].launchDigest = 7
            variants.append(changed)
            var updated = specs
            updated[index].restart.mode = .no
            variants.append(updated)
            variants.append(removing(index, from: specs))
            variants.append(specs + [added([Need(specs[index].name)])])
            var above = specs
            above[index].needs.append(Need("new"))
            variants.append(above + [added([])])
            for need in specs[index].needs.indices {
                var fewer = specs
                fewer[index].needs.remove(at: need)
                variants.append(fewer)
            }
        }
        return variants.flatMap { variant in
            [false, true].map { rollsBack in
                do { return try Plan(variant, rollsBack: rollsBack) } catch {
                    preconditionFailure("\(error)")
                }
            }
        }
    }

    private static func removing(_ index: Int, from specs: [ServiceSpec]) -> [ServiceSpec] {
        let gone = specs[index].name
        return specs.filter { $0.name != gone }.map { spec in
            var left = spec
            left.needs.removeAll { $0.service == gone }
            return left
        }
    }

    private static func added(_ needs: [Need]) -> ServiceSpec {
        var spec = ServiceSpec("new", needs: needs, readiness: .reported)
        spec.restart.limitCount = 1
        spec.restart.backoff = .spaced(.seconds(1))
        return spec
    }
}
