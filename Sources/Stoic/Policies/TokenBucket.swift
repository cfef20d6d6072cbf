/// A token bucket as data, in exact arithmetic: no rate is rounded, so no token comes early.
///
/// A token is `per` nanoseconds' worth of `rate`; every nanosecond adds `rate`. Both are whole, so
/// the level is too.
struct TokenBucket {
    private let rate: Int128
    private let price: Int128
    private let capacity: Int128
    private var level: Int128
    private var now: Int64

    /// A full bucket of `burst` tokens that fills at `rate` tokens each `per` nanoseconds.
    init(rate: Int, per: Int64, burst: Int, at now: Int64) {
        self.rate = Int128(rate)
        price = Int128(per)
        capacity = Int128(burst) * price
        level = capacity
        self.now = now
    }

    /// Lets time pass; time that goes back is ignored.
    mutating func pass(to time: Int64) {
        guard time > now else { return }
        level = min(capacity, level + Int128(time - now) * rate)
        now = time
    }

    /// Takes a token if there is one.
    mutating func take() -> Bool {
        guard level >= price else { return false }
        level -= price
        return true
    }

    /// How long until the `place`-th token from now is there, if nobody else takes one; `Int64.max`
    /// if never.
    func wait(forToken place: Int) -> Int64 {
        let missing = Int128(place) * price - level
        guard missing > 0 else { return 0 }
        return Int64(clamping: (missing + rate - 1) / rate)
    }

    /// Whole tokens in it.
    var tokens: Int { Int(clamping: level / price) }
}
