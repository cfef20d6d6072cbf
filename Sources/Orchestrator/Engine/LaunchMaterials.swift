import Manifest
import Stoic

/// What a launch needs and may have to wait for: a user and its groups (a directory service), the
/// environment files (a network file system). Gathered on a thread of the pool.
struct LaunchMaterials: Sendable {
    /// Whom it runs as; `nil` is ours.
    var identity: Identity?
    /// The variables of each environment file that is there.
    var files: [String: [Variable]] = [:]

    /// One line of an environment file.
    struct Variable: Sendable {
        let name: String
        let value: String
    }

    /// How long gathering may take. A directory service that is slower than this is broken for
    /// everybody on the machine; the thread of the pool waits on alone.
    static let limit = Duration.seconds(10)

    /// Whether there is anything to gather: for most services there is not.
    static func areNeeded(for launch: LaunchDefinition) -> Bool {
        launch.user != nil || launch.group != nil || !launch.environmentFiles.isEmpty
    }

    /// Looks up and reads. Blocks; not for the loop's thread.
    static func gather(for launch: LaunchDefinition) -> Result<LaunchMaterials, LaunchFailure> {
        do throws(LaunchFailure) {
            var materials = LaunchMaterials()
            materials.identity = try identity(of: launch)
            for file in launch.environmentFiles { try materials.read(file.path, file.isRequired) }
            return .success(materials)
        } catch {
            return .failure(error)
        }
    }

    private static func identity(of launch: LaunchDefinition) throws(LaunchFailure) -> Identity? {
        guard launch.user != nil || launch.group != nil else { return nil }
        do {
            let identity = try resolveIdentity(user: launch.user, group: launch.group)
            try identity.check(user: launch.user, group: launch.group)
            return identity
        } catch {
            throw LaunchFailure(step: "\(error)", errorNumber: 0)
        }
    }

    private mutating func read(_ path: String, _ isRequired: Bool) throws(LaunchFailure) {
        do throws(EnvironmentFileError) {
            files[path] = try readEnvironmentFile(path).map {
                Variable(name: $0.name, value: $0.value)
            }
        } catch {
            if case .missing = error, !isRequired { return }
            throw LaunchFailure(step: "use the environment file \(path): \(error)", errorNumber: 0)
        }
    }
}

extension LaunchDefinition {
    fileprivate var environmentFiles: [(path: String, isRequired: Bool)] {
        environment.compactMap { entry in
            guard case .file(let path, let isRequired) = entry else { return nil }
            return (path, isRequired)
        }
    }
}
