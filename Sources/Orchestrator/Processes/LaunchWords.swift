import CProcess
import Glibc
import Stoic

/// What a failed launch says, each completing "cannot …".
struct LaunchWords {
    private let command: String
    private let directory: String
    private let user: String
    private let group: String
    private let limits: [LaunchRequest.Limit]

    init(_ request: LaunchRequest) {
        command = request.arguments.first ?? "an empty command"
        directory = request.workingDirectory
        user = request.identity.map { $0.name ?? String($0.user) } ?? ""
        group = request.identity.map { String($0.group) } ?? ""
        limits = request.limits
    }

    /// The words for the launch as a whole.
    var run: String { "run \(command)" }
    /// The words for what comes before there is a process.
    var make: String { "make a process for \(command)" }

    func failure(of result: cproc_result) -> LaunchFailure {
        LaunchFailure(step: step(result), errorNumber: result.error)
    }

    private func step(_ result: cproc_result) -> String {
        switch result.step {
        case CPROC_STEP_CLONE: make
        case CPROC_STEP_CGROUP:
            "make \(command) in a cgroup of its own, on which isolate: cgroup insists"
        case CPROC_STEP_DESCRIPTORS: "pass descriptors to \(command)"
        case CPROC_STEP_SESSION: "make a session for \(command)"
        case CPROC_STEP_SIGNALS: "set the signals of \(command)"
        case CPROC_STEP_LIMITS: "set the limits of \(command)" + excess(result)
        case CPROC_STEP_NICE:
            "set the nice value of \(command)"
                + (result.error == EACCES ? " (one below ours takes root)" : "")
        case CPROC_STEP_GROUPS: "take the groups of user \(user)"
        case CPROC_STEP_GROUP: "become group \(group)"
        case CPROC_STEP_USER: "become user \(user)"
        case CPROC_STEP_DIRECTORY: "enter the working directory \(directory)"
        default: run + detail(result)
        }
    }

    /// Which limits are above what we may set: the hard limits we have ourselves.
    private func excess(_ result: cproc_result) -> String {
        guard result.error == EPERM else { return "" }
        let words = limits.compactMap { limit -> String? in
            var ours = rlimit()
            let resource = __rlimit_resource_t(UInt32(bitPattern: limit.resource))
            // SAFETY: the call fills a variable of the size it expects, and keeps no pointer.
            guard unsafe getrlimit(resource, &ours) == 0, limit.hard > ours.rlim_max else {
                return nil
            }
            return "\(resourceName(limit.resource)) at most \(ours.rlim_max)"
        }
        return words.isEmpty ? "" : " (without root \(words.joined(separator: ", ")))"
    }

    private func detail(_ result: cproc_result) -> String {
        switch result.detail {
        case CPROC_DETAIL_IS_DIRECTORY: " (it is a directory)"
        case CPROC_DETAIL_NO_INTERPRETER: " (it is there, its interpreter is not)"
        case CPROC_DETAIL_NOT_EXECUTABLE: " (it has no permission to be executed)"
        default:
            switch result.error {
            case ENOENT where command.isEmpty: " (it has no name)"
            case ENOENT where !command.contains("/"): " (it is in no directory of PATH)"
            case ENOENT where !command.hasPrefix("/"): " (from \(directory))"
            case ENOEXEC: " (no program, and no script with a #! line)"
            case ECANCELED: " (it was ended before it ran)"
            default: ""
            }
        }
    }
}
