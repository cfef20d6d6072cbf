/// Lets a few refusals of a service through and counts the rest: a sender we do not know must not
/// be able to fill the record of events.
struct RefusalGate {
    /// The refusals reported in one window.
    static let most = 5
    /// What is let through in one window.
    private let most: Int32
    /// How long a window lasts, in awake time.
    static let window = Duration.seconds(10)

    private var windowEnd = Duration.zero
    private var reported: Int32 = 0
    private var suppressed: Int32 = 0

    init(most: Int = RefusalGate.most) { self.most = Int32(clamping: most) }

    /// Counts a refusal.
    /// - Returns: How many were not reported since the last report, if this one is to be reported.
    mutating func admit(at now: Duration) -> Int? {
        if now < windowEnd {
            guard reported < most else {
                if suppressed < .max { suppressed += 1 }
                return nil
            }
        } else {
            windowEnd = now + Self.window
            reported = 0
        }
        reported += 1
        return takeSuppressed()
    }

    /// The refusals nobody was told about yet. They count as told from now on.
    mutating func takeSuppressed() -> Int {
        defer { suppressed = 0 }
        return Int(suppressed)
    }
}
