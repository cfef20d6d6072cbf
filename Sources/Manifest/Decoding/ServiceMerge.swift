import Stoic

/// The keys of a service after its defaults and what it extends were laid beneath its own.
struct ServiceKeys: Located {
    let name: ServiceName
    var place: Place
    var path: String
    var values: [String: Checked] = [:]
    /// Every key given somewhere, right or wrong.
    var given: Set<String> = []
    /// Keys whose value is that of `defaults`.
    var fromDefaults: Set<String> = []
    /// `environment` of the defaults, of what it extends, and its own: later ones win.
    var environments: [Checked] = []

    subscript(_ key: String) -> Checked? { values[key] }

    /// Lays `keys` over what is there.
    mutating func add(_ keys: CheckedObject) {
        given.formUnion(keys.given)
        fromDefaults.subtract(keys.given)
        for key in keys.given { values[key] = keys[key] }
        if let environment = keys["environment"] { environments.append(environment) }
    }
}

/// Resolves `extends` and `defaults`.
struct ServiceMerge {
    /// The longest chain of `extends`.
    static let mostLinks = 64

    let log: DiagnosticLog
    let defaults: CheckedObject?
    /// The variables of the project, which every service gets too.
    let environment: Checked?
    let entries: [Checked.Entry]

    /// The keys of every service, in the order of the file; none, after a report, if all together
    /// come to more than a config may.
    func merged() -> [ServiceKeys] {
        let own = entries.map { $0.value.object }
        let bases = self.bases()
        let chains = entries.indices.map { chain(from: $0, bases) }
        guard fits(chains, own) else { return [] }
        return entries.enumerated().map { number, entry in
            var keys = ServiceKeys(
                name: ServiceName(entry.key), place: entry.spot.place, path: entry.spot.path)
            if let defaults {
                keys.add(defaults)
                keys.fromDefaults = keys.given
            }
            for layer in chains[number].reversed() {
                if let object = own[layer] { keys.add(object) }
            }
            return keys
        }
    }

    private func fits(_ chains: [[Int]], _ own: [CheckedObject?]) -> Bool {
        let sizes = own.map { $0.map { Expansion($0) } ?? Expansion() }
        var shared = defaults.map { Expansion($0) } ?? Expansion()
        if let environment { shared += Expansion(environment) }
        var whole = Expansion()
        for (number, chain) in chains.enumerated() {
            whole += shared
            for layer in chain { whole += sizes[layer] }
            guard whole.isTooMuch else { continue }
            let bytes = sizeText(UInt64(Expansion.most.bytes))
            log.error(
                entries[number].spot,
                "up to here the services have more than \(Expansion.most.values) values or "
                    + "\(bytes) of text, what they extend and share counted for each",
                suggestion: "share less, or put it into an environmentFile")
            return false
        }
        return true
    }

    /// The service, what it extends, what that extends, and so on.
    private func chain(from number: Int, _ bases: [Int?]) -> [Int] {
        var chain = [number]
        while let base = bases[chain[chain.count - 1]] {
            guard chain.count <= Self.mostLinks else {
                log.error(
                    entries[number].spot,
                    "it extends a chain of more than \(Self.mostLinks) services")
                return [number]
            }
            chain.append(base)
        }
        return chain
    }

    /// For each service the one it extends, as far as that makes sense.
    private func bases() -> [Int?] {
        if let extends = defaults?["extends"] {
            log.error(extends, "defaults cannot extend a service")
        }
        let names = entries.map(\.key)
        let index = Dictionary(uniqueKeysWithValues: names.enumerated().map { ($1, $0) })
        let extended = entries.map { $0.value.object?["extends"] }
        var bases = extended.map { $0?.text.flatMap { index[$0] } }
        for case let extends? in extended {
            guard let name = extends.text, index[name] == nil else { continue }
            log.error(extends, "no service \(quoted(name))", near: name, among: names)
        }
        let specs = names.enumerated().map { number, name in
            let base = bases[number].map { Need(ServiceName(names[$0])) }
            return ServiceSpec(ServiceName(name), needs: base.map { [$0] } ?? [])
        }
        for cycle in cycles(specs) {
            let members = cycle.compactMap { index[$0.text] }
            for number in members { bases[number] = nil }
            guard let extends = members.first.flatMap({ extended[$0] }) else { continue }
            let path = DependencyGraphError.spelledOut(cycle)
            log.error(extends, "services extend each other in a circle: \(path)")
        }
        return bases
    }
    private func cycles(_ specs: [ServiceSpec]) -> [[ServiceName]] {
        do throws(DependencyGraphError) { _ = try DependencyGraph(specs) } catch {
            return error.cycles
        }
        return []
    }
}
