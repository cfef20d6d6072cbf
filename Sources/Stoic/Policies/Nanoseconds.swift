extension Duration {
    /// Whole nanoseconds, rounded down, from zero to a century: they fit an `Int64`, so that the
    /// arithmetic of windows and buckets is exact and cannot overflow.
    var nanoseconds: Int64 {
        let parts = max(clamped, .zero).components
        return parts.seconds * 1_000_000_000 + parts.attoseconds / 1_000_000_000
    }
}
