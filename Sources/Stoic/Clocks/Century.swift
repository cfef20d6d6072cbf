extension Duration {
    /// A hundred years of 365.25 days. "For ever" is this long: longer waits and sums are clamped
    /// to it, because `Duration` arithmetic traps on overflow and `Task.sleep` traps before that.
    public static let century = Duration.seconds(3_155_760_000)

    /// This duration, at most a century in either direction.
    public var clamped: Duration { min(max(self, .zero - .century), .century) }

    /// The sum, with both operands and the result clamped to a century in either direction.
    public func saturatingSum(_ other: Duration) -> Duration { (clamped + other.clamped).clamped }

    /// The difference, with both operands and the result clamped to a century in either direction.
    public func saturatingDifference(_ other: Duration) -> Duration {
        (clamped - other.clamped).clamped
    }
}
