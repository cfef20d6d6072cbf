/// A failure for people: what kind it is, what it says, where it came from, what was tried, and
/// what to do. The same value prints as text and as JSON.
///
/// ```swift
/// do { try await serve(api) } catch { log(Report(error).text) }
/// ```
public struct Report: Sendable {
    /// What kind of failure it is.
    public enum Kind: String, Hashable, Sendable {
        /// Expected, and not handled.
        case failure
        /// A programming error.
        case defect
        /// The work was cancelled; nothing failed.
        case cancellation
        /// A policy refused to run the work.
        case rejection
    }

    /// What kind of failure it is.
    public let kind: Kind
    /// A stable word for it, to search for: `system.ECONNREFUSED`, `rejected.breakerOpen`.
    public let code: String
    /// What it says, in one line.
    public let cause: String
    /// The labels of the scopes, supervisors and services around it, the outermost first.
    public let path: [String]
    /// What was decided on the way: attempts, refusals, stops.
    public let steps: [Event]
    /// What to do about it, if anything is known.
    public let advice: String?

    /// - Parameters:
    ///   - error: What failed.
    ///   - steps: Events that led there, oldest first; those of a recorder, say. The newest 50 are
    ///     kept.
    public init(_ error: any Error, steps: [Event] = []) {
        let described = ReportedError(error)
        kind = described.kind
        code = described.code
        cause = described.cause
        advice = described.advice
        path = Context.current.path?.labels ?? []
        self.steps = Array(steps.suffix(Self.mostSteps))
    }

    private static let mostSteps = 50

    /// Several lines, without a newline at the end.
    public var text: String {
        var lines = ["\(kind.rawValue): \(cause) [\(code)]"]
        if !path.isEmpty { lines.append("  in \(path.joined(separator: " › "))") }
        let format = EventText(showsPriority: false)
        lines += steps.map { "  then \(format.line($0).dropLast())" }
        if let advice { lines.append("  \(advice)") }
        return lines.joined(separator: "\n")
    }

    /// One JSON object on one line, without a newline at the end.
    public var json: String {
        let lines = steps.map { String(EventJSON.line($0).dropLast()) }
        var members = [
            "\"kind\":\(EventJSON.string(kind.rawValue))", "\"code\":\(EventJSON.string(code))",
            "\"cause\":\(EventJSON.string(cause))",
            "\"path\":[\(path.map(EventJSON.string).joined(separator: ","))]",
            "\"steps\":[\(lines.joined(separator: ","))]",
        ]
        if let advice { members.append("\"advice\":\(EventJSON.string(advice))") }
        return "{\(members.joined(separator: ","))}"
    }
}

/// An error that knows how it is to be reported.
///
/// ```swift
/// struct DiskFull: Reportable {
///     var reportCode: String { "shop.diskFull" }
///     var reportCause: String { "the disk is full" }
///     var reportAdvice: String? { "free some space" }
/// }
/// ```
public protocol Reportable: Error {
    /// A stable word for it, to search for.
    var reportCode: String { get }
    /// What it says, in one line. Leave out what is secret.
    var reportCause: String { get }
    /// What to do about it, if anything is known.
    var reportAdvice: String? { get }
}

extension Reportable {
    /// Nothing is known.
    public var reportAdvice: String? { nil }
}

/// What can be said of any error.
private struct ReportedError {
    let kind: Report.Kind
    let code: String
    let cause: String
    let advice: String?

    init(_ error: any Error) {
        switch error {
        case is CancellationError:
            let cause = Cancellation.cause ?? .requested
            self.init(.cancellation, "cancelled", "cancelled: \(cause)", nil)
        case let composed as any ComposedError where composed.causes.count == 1:
            self = ReportedError(composed.causes[0])
        case let composed as any ComposedError where composed.causes.count > 1:
            let all = composed.causes.map(ReportedError.init)
            let rest = all.dropFirst().map { "also: \($0.cause)" }.joined(separator: "; ")
            self.init(all[0].kind, all[0].code, "\(all[0].cause); \(rest)", all[0].advice)
        case let policy as any AnyPolicyError where policy.rejection != nil:
            guard let rejection = policy.rejection else { preconditionFailure("just looked at") }
            self.init(.rejection, rejection.code, rejection.cause, rejection.advice)
        case let reportable as any Reportable:
            let kind: Report.Kind = error is any Defect ? .defect : .failure
            self.init(kind, reportable.reportCode, reportable.reportCause, reportable.reportAdvice)
        default:
            let kind: Report.Kind = error is any Defect ? .defect : .failure
            let type = String(describing: type(of: error))
            self.init(kind, "error.\(type)", Self.oneLine("\(error)"), nil)
        }
    }

    private init(_ kind: Report.Kind, _ code: String, _ cause: String, _ advice: String?) {
        self.kind = kind
        self.code = code
        self.cause = cause
        self.advice = advice
    }

    private static func oneLine(_ text: String) -> String {
        text.split(whereSeparator: \.isNewline).joined(separator: " ")
    }
}

extension Rejection {
    /// A stable word for it.
    public var code: String {
        switch self {
        case .breakerOpen: "rejected.breakerOpen"
        case .bulkheadFull: "rejected.bulkheadFull"
        case .bulkheadTimeout: "rejected.bulkheadTimeout"
        case .rateLimited: "rejected.rateLimited"
        case .budgetExhausted: "rejected.budgetExhausted"
        case .deadlinePassed: "rejected.deadlinePassed"
        case .abandoned: "rejected.abandoned"
        case .shuttingDown: "rejected.shuttingDown"
        }
    }

    fileprivate var cause: String {
        switch self {
        case .breakerOpen: "the circuit breaker is open"
        case .bulkheadFull: "all places and waiting places are taken"
        case .bulkheadTimeout: "no place became free in time"
        case .rateLimited: "the rate is used up"
        case .budgetExhausted: "the retry budget is empty"
        case .deadlinePassed: "the deadline had passed before the work began"
        case .abandoned: "the work ignored its cancellation and was left behind"
        case .shuttingDown: "what should run it is stopping"
        }
    }

    fileprivate var advice: String? {
        switch self {
        case .breakerOpen(let wait): "try again in \(wait); the dependency behind it fails"
        case .rateLimited(let wait): "try again in \(wait)"
        case .bulkheadFull, .bulkheadTimeout: "try again when there is less to do"
        case .budgetExhausted: "look at why so many calls fail: retrying makes it worse"
        case .deadlinePassed: "give it more time, or find what is slow"
        case .abandoned: "find what does not honour cancellation"
        case .shuttingDown: nil
        }
    }
}

extension SystemError: Reportable {
    /// `system.ECONNREFUSED`.
    public var reportCode: String { "system.\(entry.name)" }
    /// What failed, and why.
    public var reportCause: String { description }
    /// Whether to try again.
    public var reportAdvice: String? {
        switch entry.kind {
        case .transient: "try again"
        case .resource: "free some, or wait until others do"
        case .permanent, .contract: nil
        }
    }
}

extension SystemDefect: Reportable {
    /// `system.EBADF`.
    public var reportCode: String { error.reportCode }
    /// What failed, and why.
    public var reportCause: String { error.description }
}
