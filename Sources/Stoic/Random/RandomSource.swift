/// Where randomness comes from: the system, or a seed that gives the same numbers again.
///
/// A value: copying a seeded source copies its place in the sequence.
///
/// ```swift
/// var dice = Ambient.current.random.stream()
/// let face = Int.random(in: 1...6, using: &dice)
/// ```
public struct RandomSource: RandomNumberGenerator, Hashable, Sendable {
    private var seeded: UInt64?

    /// The system's generator: every draw is independent.
    public static let system = RandomSource(seeded: nil)

    /// The sequence of `seed`, by SplitMix64 (Steele, Lea and Flood 2014).
    public static func seeded(_ seed: UInt64) -> RandomSource { RandomSource(seeded: seed) }

    private init(seeded: UInt64?) { self.seeded = seeded }

    /// The next 64 random bits.
    public mutating func next() -> UInt64 {
        guard let state = seeded else {
            var system = SystemRandomNumberGenerator()
            return system.next()
        }
        let advanced = state &+ 0x9E37_79B9_7F4A_7C15
        seeded = advanced
        var mixed = advanced
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }

    /// The source of one call site under this source's seed: the FNV-1a hash of seed, file and
    /// line, so that sites do not disturb each other's sequence. The system's source stays what it
    /// is.
    public func stream(file: String = #fileID, line: Int = #line) -> RandomSource {
        guard let seed = seeded else { return self }
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        func mix(_ byte: UInt8) { hash = (hash ^ UInt64(byte)) &* 0x0000_0100_0000_01B3 }
        func mix(_ number: UInt64) {
            for shift in stride(from: UInt64(0), to: 64, by: 8) {
                mix(UInt8(truncatingIfNeeded: number >> shift))
            }
        }
        mix(seed)
        for byte in file.utf8 { mix(byte) }
        mix(UInt64(line))
        return .seeded(hash)
    }
}
