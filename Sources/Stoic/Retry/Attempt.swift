/// One of the attempts of a `retry`.
public struct Attempt: Hashable, Sendable {
    /// Which one, counted from 1.
    public let number: Int
    /// How many there are at most, the first one included.
    public let limit: Int
    /// How long the retry has lasted, delays included, when this attempt began.
    public let elapsed: Duration

    /// Whether none came before it.
    public var isFirst: Bool { number == 1 }
    /// Whether none comes after it. An earlier one may turn out to be the last, too.
    public var isLast: Bool { number == limit }
}

/// The retries around some work, the innermost first, for `retry.nested`.
final class RetryPath: Sendable {
    /// The attempts of each, the outermost first.
    let limits: [Int]

    init(_ limit: Int, inside outer: RetryPath?) { limits = (outer?.limits ?? []) + [limit] }

    /// How often the work may run in all.
    var amplification: Int {
        limits.reduce(1) { product, limit in
            let (next, overflows) = product.multipliedReportingOverflow(by: limit)
            return overflows ? .max : next
        }
    }
}
