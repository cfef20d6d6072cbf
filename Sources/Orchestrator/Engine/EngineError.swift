public import Stoic

/// Why a project could not be taken over. Nothing was started.
public enum EngineError: Error, CustomStringConvertible {
    /// Its directories, its lock or its record.
    case project(ProjectError)
    /// Its control socket.
    case control(ControlError)
    /// Its services.
    case graph(DependencyGraphError)
    /// The system refused something else.
    case system(String)

    init(_ error: any Error) {
        switch error {
        case let error as ProjectError: self = .project(error)
        case let error as ControlError: self = .control(error)
        case let error as DependencyGraphError: self = .graph(error)
        default: self = .system("\(error)")
        }
    }

    /// One sentence for people.
    public var description: String {
        switch self {
        case .project(let error): "\(error)"
        case .control(let error): "\(error)"
        case .graph(let error): "\(error)"
        case .system(let words): words
        }
    }
}
