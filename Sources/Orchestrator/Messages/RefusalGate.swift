/// Lets a few refusals of a service through and counts the rest: a sender we do not know must not
/// be able to fill the record of events.
struct RefusalGate {
    /// The refusals reported in one window.
    static let most = 5
    /// What is let through in one window.
    let most: Int
    /// How long a window lasts, in awake time.
    static let window = Duration.seconds(10)

    private var windowStart: Duration?
    private var reported = 0
    private var suppressed = 0

    init(most: Int = RefusalGate.most) { self.most = most }

    /// Counts a refusal.
    /// - Returns: How many were not reported since the last report, if this one is to be reported.
    mutating func admit(at now: Duration) -> Int? {
        if let start = windowStart, now - start < Self.window {
            guard reported < most else {
                suppressed += 1
                return nil
            }
        } else {
            windowStart = now
            reported = 0
        }
        reported += 1
        return takeSuppressed()
    }

    /// The refusals nobody was told about yet. They count as told from now on.
    mutating func takeSuppressed() -> Int {
        defer { suppressed = 0 }
        return suppressed
    }
}
