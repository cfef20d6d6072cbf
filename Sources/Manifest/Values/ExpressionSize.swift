/// How many parts a POSIX extended regular expression has once its repetitions are written out,
/// which is what libc does with it: `(x{1,100}){1,100}` is 10,000 of `x`, and every `+` around a
/// group doubles it. An estimate that is never far below; what is no expression has some size too.
struct ExpressionSize {
    /// More than this is refused: libc would take seconds and hundreds of megabytes.
    static let most = 10_000

    private let bytes: [UInt8]
    private var position = 0
    /// The sizes of the sequences that are open, outermost first.
    private var open = [0]
    /// The size of the part that came last: what a repetition repeats.
    private var last = 0

    /// The size of `expression`; at most one above `most`.
    static func of(_ expression: String) -> Int {
        var walk = ExpressionSize(bytes: Array(expression.utf8))
        return walk.total()
    }

    private init(bytes: [UInt8]) { self.bytes = bytes }

    private mutating func total() -> Int {
        while position < bytes.count { step() }
        return open.reduce(last) { Self.capped($0 + $1) }
    }

    private mutating func step() {
        let byte = bytes[position]
        position += 1
        switch byte {
        case UInt8(ascii: "\\"): takePart(skipping: 1)
        case UInt8(ascii: "["): takeBracket()
        case UInt8(ascii: "("):
            closePart()
            open.append(0)
        case UInt8(ascii: ")"):
            closePart()
            last = max(1, open.popLast() ?? 0)
            if open.isEmpty { open = [0] }
        case UInt8(ascii: "+"): last = Self.capped(last * 2)
        case UInt8(ascii: "*"), UInt8(ascii: "?"): break
        case UInt8(ascii: "{"): repeatPart()
        default: takePart(skipping: 0)
        }
    }

    private mutating func closePart() {
        open[open.count - 1] = Self.capped(open[open.count - 1] + last)
        last = 0
    }

    private mutating func takePart(skipping count: Int) {
        closePart()
        position += count
        last = 1
    }

    /// `[…]`, where `]` comes first as itself and `[:alpha:]` may stand inside.
    private mutating func takeBracket() {
        takePart(skipping: 0)
        if position < bytes.count, bytes[position] == UInt8(ascii: "^") { position += 1 }
        if position < bytes.count, bytes[position] == UInt8(ascii: "]") { position += 1 }
        while position < bytes.count, bytes[position] != UInt8(ascii: "]") {
            let isClass = bytes[position...].starts(with: "[:".utf8)
            position += 1
            guard isClass else { continue }
            while position < bytes.count, bytes[position] != UInt8(ascii: "]") { position += 1 }
            position += 1
        }
        position += 1
    }

    /// `{n}`, `{n,}` and `{n,m}`: as often as the greater number says, and once for its rest.
    private mutating func repeatPart() {
        guard position < bytes.count, let end = bytes[position...].firstIndex(of: UInt8(ascii: "}"))
        else { return }
        let numbers = bytes[position..<end].split(separator: UInt8(ascii: ","))
            .map { Int(String(decoding: $0, as: UTF8.self)) ?? Self.most }
        let most = min(numbers.max() ?? 1, Self.most)
        let isOpen = bytes[position..<end].last == UInt8(ascii: ",")
        last = Self.capped(last * max(1, most + (isOpen ? 1 : 0)))
        position = end + 1
    }

    private static func capped(_ size: Int) -> Int { min(size, most + 1) }
}
