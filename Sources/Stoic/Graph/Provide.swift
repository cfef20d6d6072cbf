/// A service: what it needs, how it starts and how it stops.
public struct Provide: Sendable {
    let key: AnyServiceKey
    let needs: [AnyServiceKey]
    let startTimeout: Duration
    let stopTimeout: Duration?
    let start: @Sendable (Services) async throws -> any Sendable
    let stop: @Sendable (any Sendable, Exit) async throws -> Void
    let work: (@Sendable (any Sendable) async throws -> Void)?

    /// Declares a service.
    ///
    /// ```swift
    /// let database = ServiceKey<Database>("database")
    /// let api = ServiceKey<API>("api")
    /// let provide = Provide(api, needs: [database.any]) { services in
    ///     try await API(database: services[database])
    /// } stop: { api, exit in
    ///     await api.close()
    /// }
    /// ```
    /// - Parameters:
    ///   - key: Its name and type.
    ///   - needs: What must have started before it starts, and stops after it.
    ///   - startTimeout: How long its start may take; default 30 s. Then it is cancelled.
    ///   - stopTimeout: How long its stop may take before it is cancelled; `nil` for the run's own.
    ///   - work: What the service does for as long as it is up, beside its users. It begins when
    ///     the service has started, and is cancelled and awaited before `stop` is called. When it
    ///     throws, the graph stops, and the error comes out of `run`. Put a supervisor around
    ///     what shall be restarted.
    ///   - start: Makes it. It has started when this returns.
    ///   - stop: Ends it, shielded from cancellation, told why. Called once, if and only if `start`
    ///     returned.
    public init<Value: Sendable>(
        _ key: ServiceKey<Value>, needs: [AnyServiceKey] = [],
        startTimeout: Duration = .seconds(30), stopTimeout: Duration? = nil,
        work: (@Sendable (Value) async throws -> Void)? = nil,
        start: @escaping @Sendable (Services) async throws -> Value,
        stop: @escaping @Sendable (Value, Exit) async throws -> Void = { _, _ in }
    ) {
        self.key = key.any
        self.needs = needs
        self.startTimeout = startTimeout
        self.stopTimeout = stopTimeout
        self.start = start
        self.stop = { value, exit in try await stop(Self.own(value), exit) }
        if let work {
            self.work = { value in try await work(Self.own(value)) }
        } else {
            self.work = nil
        }
    }

    /// The value as what it was made as.
    private static func own<Value: Sendable>(_ value: any Sendable) -> Value {
        guard let own = value as? Value else {
            preconditionFailure("a service is handed back as the type it was started as")
        }
        return own
    }
}

/// Lists services: one after the other, and with `if`, `for` and `switch`.
@resultBuilder public enum ServicesBuilder {
    /// One service.
    public static func buildExpression(_ provide: Provide) -> [Provide] { [provide] }
    /// Several services.
    public static func buildExpression(_ provides: [Provide]) -> [Provide] { provides }
    /// All of a block.
    public static func buildBlock(_ parts: [Provide]...) -> [Provide] { parts.flatMap { $0 } }
    /// Those of an `if` without `else`.
    public static func buildOptional(_ part: [Provide]?) -> [Provide] { part ?? [] }
    /// Those of the first branch.
    public static func buildEither(first part: [Provide]) -> [Provide] { part }
    /// Those of the second branch.
    public static func buildEither(second part: [Provide]) -> [Provide] { part }
    /// Those of a loop.
    public static func buildArray(_ parts: [[Provide]]) -> [Provide] { parts.flatMap { $0 } }
}
