extension CircuitBreaker {
    /// When a breaker opens, for how long, and what closes it.
    public struct Settings: Hashable, Sendable {
        /// How far back calls are counted, in steps of a tenth. Default 30 s.
        public var window: Duration = .seconds(30)
        /// The share of failures at which it opens, above 0 and at most 1. Default a half.
        public var failureRatio = 0.5
        /// Fewer calls in the window than this say nothing; at least 1. Default 10.
        public var minimumCalls = 10
        /// How long it stays open the first time, before jitter to between half and all of it.
        /// Doubled each time a probe fails. Default 10 s.
        public var openFor: Duration = .seconds(10)
        /// What the doubling stops at. Default 60 s.
        public var openForAtMost: Duration = .seconds(60)
        /// How many probes run at once while it is half-open; at least 1. Default 1.
        public var probes = 1
        /// How many probes in a row must succeed to close it; at least 1. Default 3.
        public var successesToClose = 3
        /// How long all probes may run without any of them ending, before it opens again; `nil` is
        /// `openFor`. A probe that hangs cannot hold the breaker half-open for ever.
        public var halfOpenMaxWait: Duration?
        /// A call that took this long or longer counts as a failure although it succeeded; `nil`,
        /// the default, is never.
        public var slowCall: Duration?

        /// The defaults.
        public init() {}

        /// How many buckets the window has.
        static let buckets = 10

        func check() {
            precondition(window >= .microseconds(1), "a window of at least a microsecond")
            precondition(failureRatio > 0 && failureRatio <= 1, "a ratio above 0, at most 1")
            precondition(minimumCalls >= 1, "at least one call")
            precondition(openFor > .zero && openForAtMost >= openFor, "open for a while")
            precondition(probes >= 1 && successesToClose >= 1, "at least one probe")
            precondition(halfOpenMaxWait.map { $0 > .zero } ?? true, "a wait above zero")
            precondition(slowCall.map { $0 > .zero } ?? true, "a slow call takes some time")
        }
    }
}
