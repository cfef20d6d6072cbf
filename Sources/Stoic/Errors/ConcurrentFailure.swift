/// The failures of work that ran side by side, all of them, in the order they came.
///
/// ```swift
/// do {
///     try await forEachConcurrent(files, limit: 4, onFailure: .collect) { try await upload($0) }
/// } catch let failure as ConcurrentFailure<any Error> {
///     log("\(failure.all.count) of \(files.count) failed, first \(failure.primary)")
/// }
/// ```
public struct ConcurrentFailure<Failure: Error>: Error {
    /// The failure that came first.
    public let primary: Failure
    /// The failures after it, in the order they came.
    public let others: [Failure]

    /// - Parameters:
    ///   - primary: The failure that came first.
    ///   - others: The failures after it, in their order.
    public init(_ primary: Failure, _ others: [Failure] = []) {
        self.primary = primary
        self.others = others
    }

    /// The failures of `errors`, or `nil` if there are none.
    init?(_ errors: [Failure]) {
        guard let primary = errors.first else { return nil }
        self.init(primary, Array(errors.dropFirst()))
    }

    /// Every failure, the first one first. Never empty.
    public var all: [Failure] { [primary] + others }
}

extension ConcurrentFailure: Equatable where Failure: Equatable {}
