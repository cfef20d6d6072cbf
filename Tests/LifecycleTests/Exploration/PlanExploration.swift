@testable import Stoic

/// Every plan that changes a small graph in one place.
enum SmallPlan {
    /// Plans over `specs`: each service changed, updated or removed, one added above or below each,
    /// an edge more or less, and everything as it was; each to be kept and to be rolled back.
    static func all(_ specs: [ServiceSpec]) -> [Plan] {
        variants(specs).flatMap { variant in [plan(variant, false), plan(variant, true)] }
    }

    /// Some of them, at random.
    static func some(
        _ specs: [ServiceSpec], _ count: Int, _ random: inout RandomSource
    ) -> [Plan] {
        let variants = variants(specs)
        return (0..<count).map { number in
            let index = Int.random(in: variants.indices, using: &random)
            return plan(variants[index], number.isMultiple(of: 2))
        }
    }

    private static func plan(_ specs: [ServiceSpec], _ rollsBack: Bool) -> Plan {
        do { return try Plan(specs, rollsBack: rollsBack) } catch {
            preconditionFailure("\(error)")
        }
    }

    private static func variants(_ specs: [ServiceSpec]) -> [[ServiceSpec]] {
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
        return variants
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
