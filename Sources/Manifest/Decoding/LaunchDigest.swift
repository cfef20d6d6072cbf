import Stoic

/// FNV-1a with 64 bits over fields that each carry their length, so that no two sequences of fields
/// are the same bytes. The same on every machine and in every run, which `Hasher` is not.
struct StableHash {
    private(set) var value: UInt64 = 0xCBF2_9CE4_8422_2325

    private mutating func mix(_ byte: UInt8) {
        value = (value ^ UInt64(byte)) &* 0x0000_0100_0000_01B3
    }

    mutating func add(_ number: UInt64) {
        var rest = number
        var count = 0
        while count < 8 {
            mix(UInt8(truncatingIfNeeded: rest))
            rest >>= 8
            count += 1
        }
    }

    mutating func add(_ number: Int) { add(UInt64(bitPattern: Int64(number))) }
    mutating func add(_ number: Int32) { add(Int(number)) }
    mutating func add(_ number: UInt32) { add(UInt64(number)) }
    mutating func add(_ number: UInt16) { add(UInt64(number)) }

    mutating func add(_ text: String) {
        add(UInt64(text.utf8.count))
        for byte in text.utf8 { mix(byte) }
    }

    mutating func add(_ flag: Bool) { mix(flag ? 1 : 0) }

    /// Absence differs from every value.
    mutating func add<Content>(
        _ content: Content?, _ body: (inout StableHash, Content) -> Void
    ) {
        add(content != nil)
        if let content { body(&self, content) }
    }

    mutating func add(_ duration: Duration) {
        let (seconds, attoseconds) = duration.components
        add(Int(seconds))
        add(Int(attoseconds))
    }

    mutating func add(_ templates: [Template]) {
        add(templates.count)
        for template in templates { add(template) }
    }

    mutating func add(_ template: Template) {
        add(template.pieces.count)
        for piece in template.pieces {
            switch piece {
            case .literal(let text):
                add(0)
                add(text)
            case .reference(let service, let key):
                add(1)
                add(service.text)
                add(key)
            }
        }
    }
}

extension ServiceDefinition {
    /// What `spec.launchDigest` is: a hash of everything a running incarnation cannot take over
    /// (its launch, its kind of readiness, its probes, its pipes, its channel, its watchdog),
    /// independent of the order and the formatting of keys. Bump the version when the encoding
    /// changes.
    /// - Parameter files: What each environment file's variables hash to, by path.
    func digest(environmentFiles files: [String: UInt64]) -> UInt64 {
        var hash = StableHash()
        hash.add("orchestrator launch 1")
        switch spec.kind {
        case .service: hash.add(0)
        case .oneshot: hash.add(1)
        }
        launch.add(to: &hash, files)
        ready.add(to: &hash)
        hash.add(hasControlChannel)
        hash.add(spec.watchdog) { $0.add($1) }
        if let live {
            live.wrappedValue.add(to: &hash)
            hash.add(spec.liveThreshold ?? 0)
        }
        hash.add(output.file) { $0.add($1) }
        hash.add(output.separatesErrors)
        return hash.value
    }
}

extension LaunchDefinition {
    fileprivate func add(to hash: inout StableHash, _ files: [String: UInt64]) {
        hash.add(command)
        hash.add(workingDirectory)
        hash.add(environment.count)
        for entry in environment {
            switch entry {
            case .inherited(let name):
                hash.add(0)
                hash.add(name)
            case .inheritAll: hash.add(1)
            case .set(let name, let value):
                hash.add(2)
                hash.add(name)
                hash.add(value)
            case .file(let path, let isRequired):
                hash.add(3)
                hash.add(path)
                hash.add(isRequired)
                hash.add(files[path]) { $0.add($1) }
            }
        }
        hash.add(user) { $0.add($1) }
        hash.add(group) { $0.add($1) }
        hash.add(umask) { $0.add($1) }
        hash.add(nice) { $0.add($1) }
        hash.add(limits.count)
        for (name, limit) in limits.sorted(by: { $0.key < $1.key }) {
            hash.add(name)
            hash.add(limit.soft) { $0.add($1) }
            hash.add(limit.hard) { $0.add($1) }
        }
        hash.add(isolatesInCgroup) { $0.add($1) }
    }
}

extension LiveDefinition {
    fileprivate func add(to hash: inout StableHash) {
        switch probe {
        case .tcp(let host, let port):
            hash.add(0)
            hash.add(host)
            hash.add(port)
        case .unix(let path):
            hash.add(1)
            hash.add(path)
        case .exec(let command):
            hash.add(2)
            hash.add(command)
        }
        hash.add(interval)
        hash.add(timeout)
    }
}

extension ReadyDefinition {
    /// Recurses as deep as the config, which its reader capped.
    fileprivate func add(to hash: inout StableHash) {
        switch self {
        case .started(let least):
            hash.add(0)
            hash.add(least)
        case .notify: hash.add(1)
        case .descriptor(let number):
            hash.add(2)
            hash.add(number)
        case .tcp(let host, let port):
            hash.add(3)
            hash.add(host)
            hash.add(port)
        case .unix(let path):
            hash.add(4)
            hash.add(path)
        case .exec(let command, let timeout):
            hash.add(5)
            hash.add(command)
            hash.add(timeout)
        case .log(let expression):
            hash.add(6)
            hash.add(expression)
        case .file(let path):
            hash.add(7)
            hash.add(path)
        case .delay(let duration):
            hash.add(8)
            hash.add(duration)
        case .completion: hash.add(9)
        case .all(let parts):
            hash.add(10)
            hash.add(parts.count)
            for part in parts { part.add(to: &hash) }
        case .any(let parts):
            hash.add(11)
            hash.add(parts.count)
            for part in parts { part.add(to: &hash) }
        }
    }
}
