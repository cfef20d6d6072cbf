import Stoic

/// One file: what programs see, and what would survive.
struct SimulatedFile {
    enum Change {
        case write(offset: Int, bytes: [UInt8])
        case truncate(to: Int)
    }

    /// What programs see.
    private(set) var bytes: [UInt8] = []
    /// What has been synced.
    private(set) var durable: [UInt8] = []
    /// What changed since, and can still be synced.
    private var unsynced: [Change] = []

    mutating func write(_ new: [UInt8], at offset: Int) {
        let change = Change.write(offset: offset, bytes: new)
        Self.apply(change, to: &bytes)
        unsynced.append(change)
    }

    mutating func truncate(to count: Int = 0) {
        Self.apply(.truncate(to: count), to: &bytes)
        unsynced.append(.truncate(to: count))
    }

    mutating func sync() {
        for change in unsynced { Self.apply(change, to: &durable) }
        unsynced = []
    }

    /// Pages that could not be written count as clean afterwards: nobody tries again.
    mutating func failSync() { unsynced = [] }

    /// - Parameter survives: Chooses how many of so many survive.
    mutating func crash(keeping survives: ((Int) -> Int)?) {
        if let survives {
            let kept = survives(unsynced.count + 1)
            for change in unsynced.prefix(kept) { Self.apply(change, to: &durable) }
            if kept < unsynced.count, case .write(let offset, let bytes) = unsynced[kept] {
                let part = Array(bytes.prefix(survives(bytes.count + 1)))
                Self.apply(.write(offset: offset, bytes: part), to: &durable)
            }
        }
        bytes = durable
        unsynced = []
    }

    private static func apply(_ change: Change, to bytes: inout [UInt8]) {
        switch change {
        case .truncate(let count):
            bytes = Array(bytes.prefix(count))
        case .write(let offset, let new):
            let end = offset + new.count
            // What was lost before this place reads as zeros.
            if bytes.count < end { bytes += Array(repeating: 0, count: end - bytes.count) }
            bytes.replaceSubrange(offset..<end, with: new)
        }
    }
}

/// The names of one directory: what programs see, and what would survive.
struct SimulatedDirectory {
    enum Change {
        case link(String, file: Int)
        case rename(String, to: String)
        case unlink(String)
    }

    /// What programs see.
    private(set) var names: [String: Int] = [:]
    private(set) var durable: [String: Int] = [:]
    private var unsynced: [Change] = []

    mutating func change(_ change: Change) {
        Self.apply(change, to: &names)
        unsynced.append(change)
    }

    mutating func sync() {
        for change in unsynced { Self.apply(change, to: &durable) }
        unsynced = []
    }

    mutating func failSync() { unsynced = [] }

    mutating func crash(keeping survives: ((Int) -> Int)?) {
        if let survives {
            for change in unsynced.prefix(survives(unsynced.count + 1)) {
                Self.apply(change, to: &durable)
            }
        }
        names = durable
        unsynced = []
    }

    private static func apply(_ change: Change, to names: inout [String: Int]) {
        switch change {
        case .link(let name, let file): names[name] = file
        case .rename(let old, let new): names[new] = names.removeValue(forKey: old)
        case .unlink(let name): names[name] = nil
        }
    }
}

/// All files and directories.
struct SimulatedDisk {
    var files: [SimulatedFile] = []
    var directories: [String: SimulatedDirectory] = ["": SimulatedDirectory()]

    /// What a crash leaves.
    mutating func crash(_ loss: CrashLoss) {
        var random = RandomSource.seeded(0)
        if case .torn(let seed) = loss { random = .seeded(seed) }
        let chance: (Int) -> Int = { Int.random(in: 0..<$0, using: &random) }
        let all: (Int) -> Int = { $0 }
        let (names, contents): (((Int) -> Int)?, ((Int) -> Int)?) =
            switch loss {
            case .everything: (nil, nil)
            case .nothing: (all, all)
            case .contents: (all, nil)
            case .names: (nil, all)
            case .torn: (chance, chance)
            }
        for name in directories.keys.sorted() { directories[name]?.crash(keeping: names) }
        for file in files.indices { files[file].crash(keeping: contents) }
    }
}
