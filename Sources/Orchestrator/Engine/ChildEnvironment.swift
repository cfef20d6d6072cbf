import Glibc
import Manifest
import Stoic

/// The environment and the arguments of one launch, made from its definition.
struct ChildEnvironment {
    /// Variables of an outer manager, and ours for a service: they reach no child unless we set
    /// them.
    static let private_ = [
        "NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID", "LISTEN_FDS", "LISTEN_PID",
        "LISTEN_FDNAMES", "ORCHESTRATOR_FD", "ORCHESTRATOR_INCARNATION", "ORCHESTRATOR_SERVICE",
        "ORCHESTRATOR_EXIT", "ORCHESTRATOR_EXIT_REASON",
    ]

    /// All of our own, where a service takes all: kept once for all services.
    private var inherited: [String: String] = [:]
    /// What is set besides, and outweighs them.
    private var values: [String: String] = [:]
    private var order: [String] = []

    /// Nothing.
    init() {}

    /// `NAME=value`: the inherited ones by name, the others in the order the names first came.
    var variables: [String] {
        inherited.filter { values[$0.key] == nil }.sorted { $0.key < $1.key }
            .map { "\($0.key)=\($0.value)" }
            + order.compactMap { name in values[name].map { "\(name)=\($0)" } }
    }

    mutating func set(_ name: String, _ value: String) {
        if values.updateValue(value, forKey: name) == nil { order.append(name) }
    }

    /// The variables the definition asks for.
    /// - Parameters:
    ///   - own: Our own environment, as we were started with it.
    ///   - materials: Whom it runs as, and what its environment files say.
    ///   - resolve: The text of a template, `nil` when it refers to a value that is not there.
    init(
        _ definition: LaunchDefinition, own: [String: String], materials: LaunchMaterials,
        resolve: (Template) -> String?
    ) throws(LaunchFailure) {
        for entry in definition.environment {
            switch entry {
            case .inherited(let name): if let value = own[name] { set(name, value) }
            case .inheritAll: inherited = own
            case .set, .file: break
            }
        }
        // Who it runs as outweighs what is inherited; what the config sets by name outweighs both.
        for (name, value) in materials.identity?.environment ?? [] { set(name, value) }
        for entry in definition.environment {
            switch entry {
            case .inherited, .inheritAll: break
            case .set(let name, let template):
                guard let value = resolve(template) else { throw .unresolved(template, name) }
                set(name, value)
            case .file(let path, _):
                for each in materials.files[path] ?? [] { set(each.name, each.value) }
            }
        }
    }

    /// Our environment, without what is ours alone.
    static func inherited() -> [String: String] {
        var own: [String: String] = [:]
        // SAFETY: the list ends with a null, each text with a zero; nothing changes it meanwhile,
        // and each text is copied.
        var next = unsafe environ
        while let entry = unsafe next.pointee {
            let text = unsafe String(cString: entry)
            if let equals = text.firstIndex(of: "=") {
                own[String(text[..<equals])] = String(text[text.index(after: equals)...])
            }
            unsafe next += 1
        }
        for name in private_ { own[name] = nil }
        return own
    }
}

extension LaunchFailure {
    /// The stop of a launch that had not come to its process yet.
    static func endedEarly(_ step: String) -> LaunchFailure {
        LaunchFailure(step: "\(step): it was ended before it ran", errorNumber: 0)
    }

    static func unresolved(_ template: Template, _ place: String) -> LaunchFailure {
        let missing = template.pieces.compactMap { piece -> String? in
            guard case .reference(let service, let key) = piece else { return nil }
            return "${\(service).\(key)}"
        }
        return LaunchFailure(
            step: "set \(place): \(missing.joined(separator: ", ")) has no value yet: "
                + "the service did not send it with READY",
            errorNumber: 0)
    }
}
