extension AnyClock {
    /// The clock a caller names for one call, or the ambient one.
    static func given(_ clock: (any Clock<Duration>)?) -> AnyClock {
        clock.map { AnyClock($0) } ?? Ambient.current.clock
    }
}
