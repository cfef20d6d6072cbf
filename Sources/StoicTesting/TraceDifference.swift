import Stoic

/// Two traces side by side.
struct TraceDifference {
    /// The longest traces that are aligned; of longer ones only the first events are.
    private static let mostAligned = 2_000

    let lines: [String]

    /// - Parameter shared: Whether the order does not matter: what is in both is left out.
    init(_ expected: [ExpectedEvent], _ actual: [Event], shared: Bool) {
        lines = shared ? Self.unordered(expected, actual) : Self.aligned(expected, actual)
    }

    private static func unordered(_ expected: [ExpectedEvent], _ actual: [Event]) -> [String] {
        var left = actual
        var missing: [String] = []
        for one in expected.sorted(by: { $0.fields.count > $1.fields.count }) {
            if let place = left.firstIndex(where: { one.matches($0) }) {
                left.remove(at: place)
            } else {
                missing.append("- \(one)")
            }
        }
        return missing + left.map { "+ \($0.inWords)" }
    }

    /// The alignment with the most matches (a longest common subsequence).
    private static func aligned(_ expected: [ExpectedEvent], _ actual: [Event]) -> [String] {
        let wanted = Array(expected.prefix(mostAligned))
        let seen = Array(actual.prefix(mostAligned))
        var lengths = Array(
            repeating: Array(repeating: 0, count: seen.count + 1), count: wanted.count + 1)
        for row in wanted.indices.reversed() {
            for column in seen.indices.reversed() {
                lengths[row][column] =
                    wanted[row].matches(seen[column])
                    ? lengths[row + 1][column + 1] + 1
                    : max(lengths[row + 1][column], lengths[row][column + 1])
            }
        }
        var lines: [String] = []
        var row = 0
        var column = 0
        while row < wanted.count || column < seen.count {
            let isMatch =
                row < wanted.count && column < seen.count && wanted[row].matches(seen[column])
            if isMatch {
                lines.append("  \(seen[column].inWords)")
                row += 1
                column += 1
            } else if column == seen.count
                || (row < wanted.count && lengths[row + 1][column] >= lengths[row][column + 1])
            {
                lines.append("- \(wanted[row])")
                row += 1
            } else {
                lines.append("+ \(seen[column].inWords)")
                column += 1
            }
        }
        return lines
    }
}

extension Event {
    /// The name and the fields, as expectations are written; secrets are not shown.
    var inWords: String {
        name.text
            + fields.map { " \($0.key)=\($0.isSecret ? "<redacted>" : $0.value.inWords)" }.joined()
    }
}

extension Event.Value {
    /// The value as text.
    var inWords: String {
        switch self {
        case .text(let text): text
        case .integer(let number): "\(number)"
        case .number(let number): "\(number)"
        case .duration(let duration): "\(duration)"
        case .flag(let flag): "\(flag)"
        }
    }
}
