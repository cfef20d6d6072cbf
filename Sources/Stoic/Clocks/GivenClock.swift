extension AnyClock {
    /// The clock a caller names for one call, or the ambient one.
    static func given(_ clock: (any Clock<Duration>)?) -> AnyClock {
        clock.map { AnyClock($0) } ?? Ambient.current.clock
    }
}

/// The clocks of one call that delays some things and judges whether others hang.
struct CallClocks: Sendable {
    /// For delays and windows.
    let clock: AnyClock
    /// For what may hang.
    let liveness: AnyClock

    /// A clock that the caller names counts for both: it is erased once, so that their instants can
    /// be compared.
    init(given: (any Clock<Duration>)?, in ambient: Ambient) {
        let given = given.map { AnyClock($0) }
        clock = given ?? ambient.clock
        liveness = given ?? ambient.livenessClock
    }
}
