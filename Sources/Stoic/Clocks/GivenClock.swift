extension AnyClock {
    /// The clock a caller names for one call, or the ambient one.
    static func given(_ clock: (any Clock<Duration>)?) -> AnyClock {
        guard let clock else { return Ambient.current.clock }
        // Erasing an erased clock again would make it another one, with instants of its own.
        if let erased = clock as? AnyClock { return erased }
        return AnyClock(clock)
    }
}
