/// A decimal number and a unit at the start of a text, as exact arithmetic: `1.5s` is 1,500,000,000
/// of the smallest unit.
struct ScaledNumber {
    /// The value in the smallest unit.
    var amount: UInt64
    /// The place of its unit in the caller's list.
    var unitIndex: Int

    /// A unit and how many of the smallest it is.
    typealias Unit = (name: String, factor: UInt64)

    /// Why nothing was read.
    enum Failure: Error {
        /// It does not begin with a digit, or its unit is not in the list.
        case malformed
        /// Digits and then nothing.
        case noUnit
        /// More than 64 bits can count.
        case overflow
        /// A fraction finer than the smallest unit.
        case tooFine
    }

    /// Reads a number and its unit, and removes both from `text`.
    init(from text: inout Substring.UTF8View, units: [Unit]) throws(Failure) {
        let whole = Self.digits(&text)
        guard !whole.isEmpty else { throw .malformed }
        var fraction: Substring.UTF8View?
        if text.first == UInt8(ascii: ".") {
            text.removeFirst()
            let digits = Self.digits(&text)
            guard !digits.isEmpty else { throw .malformed }
            fraction = digits
        }
        guard !text.isEmpty else { throw .noUnit }
        let word = text.prefix { !Self.isDigit($0) }
        guard let index = units.firstIndex(where: { $0.name.utf8.elementsEqual(word) }) else {
            throw .malformed
        }
        text = text.dropFirst(word.count)
        unitIndex = index
        amount = try Self.scaled(whole, by: units[index].factor)
        if let fraction {
            let part = try Self.scaledFraction(fraction, by: units[index].factor)
            amount = try Self.sum(amount, part)
        }
    }

    /// The sum, if 64 bits can count it.
    static func sum(_ left: UInt64, _ right: UInt64) throws(Failure) -> UInt64 {
        let (sum, overflow) = left.addingReportingOverflow(right)
        guard !overflow else { throw .overflow }
        return sum
    }

    private static func isDigit(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
    }

    private static func digits(_ text: inout Substring.UTF8View) -> Substring.UTF8View {
        let digits = text.prefix(while: isDigit)
        text = text.dropFirst(digits.count)
        return digits
    }

    private static func scaled(
        _ digits: Substring.UTF8View, by factor: UInt64
    ) throws(Failure) -> UInt64 {
        var value: UInt64 = 0
        for digit in digits {
            let (tenfold, overflow) = value.multipliedReportingOverflow(by: 10)
            guard !overflow else { throw .overflow }
            value = try sum(tenfold, UInt64(digit - UInt8(ascii: "0")))
        }
        let (product, overflow) = value.multipliedReportingOverflow(by: factor)
        guard !overflow else { throw .overflow }
        return product
    }

    private static func scaledFraction(
        _ digits: Substring.UTF8View, by factor: UInt64
    ) throws(Failure) -> UInt64 {
        var digits = digits
        while digits.last == UInt8(ascii: "0") { digits.removeLast() }
        guard digits.count <= 18 else { throw .tooFine }
        let numerator = try scaled(digits, by: 1)
        let denominator = (0..<digits.count).reduce(UInt64(1)) { power, _ in power * 10 }
        let (high, low) = numerator.multipliedFullWidth(by: factor)
        // The fraction is below 1, so the quotient is below the factor and cannot overflow.
        let (quotient, remainder) = denominator.dividingFullWidth((high, low))
        guard remainder == 0 else { throw .tooFine }
        return quotient
    }
}
