import Stoic

/// Random changes of inputs: what a fuzzer without eyes can do. The same seed gives the same.
struct Mutator {
    private let inputs: [[UInt8]]
    private var source: RandomSource
    /// The bytes the readers' languages are made of.
    private static let telling =
        Array("\n\r\t \"'\\{}[]:,=%$#-+0159sm\u{0}\u{1B}".utf8) + [0xFF, 0xC3]

    init(_ inputs: [[UInt8]], seed: UInt64) {
        self.inputs = inputs
        source = .seeded(seed)
    }

    /// The next input: one of the given, changed in a few places, or spliced with another.
    mutating func next() -> [UInt8] {
        var bytes = inputs[below(inputs.count)]
        if below(8) == 0 {
            let other = inputs[below(inputs.count)]
            let head = bytes.prefix(below(bytes.count + 1))
            bytes = Array(head + other.suffix(below(other.count + 1)))
        }
        for _ in 0...below(4) { change(&bytes) }
        return bytes
    }

    private mutating func change(_ bytes: inout [UInt8]) {
        let place = below(bytes.count + 1)
        switch below(6) {
        case 0 where place < bytes.count: bytes[place] ^= UInt8(1 << below(8))
        case 1 where place < bytes.count: bytes[place] = Self.telling[below(Self.telling.count)]
        case 2: bytes.insert(Self.telling[below(Self.telling.count)], at: place)
        case 3 where place < bytes.count:
            bytes.removeSubrange(place..<min(bytes.count, place + 1 + below(8)))
        case 4:
            let end = min(bytes.count, place + below(32))
            bytes.insert(contentsOf: Array(bytes[place..<end]), at: below(bytes.count + 1))
        default: bytes.insert(UInt8(below(256)), at: place)
        }
    }

    private mutating func below(_ bound: Int) -> Int { Int.random(in: 0..<bound, using: &source) }
}
