/// A request's target, taken apart: `/v1/logs?service=db&follow`.
struct HTTPTarget: Hashable {
    /// The parts of the path, decoded. A slash at the end makes no difference.
    let path: [String]
    /// The parameters, decoded. Of one given twice the last counts.
    let query: [String: String]

    /// - Returns: `nil` for what does not begin with a slash, and for broken percent-encoding.
    init?(_ target: [UInt8]) {
        guard target.first == UInt8(ascii: "/") else { return nil }
        let halves = target.split(
            separator: UInt8(ascii: "?"), maxSplits: 1, omittingEmptySubsequences: false)
        var parts = halves[0].dropFirst()
            .split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        if parts.last?.isEmpty == true { parts.removeLast() }
        var path = [String]()
        for part in parts {
            guard let text = PercentCoding.decode(part) else { return nil }
            path.append(text)
        }
        guard let query = Self.query(halves.count > 1 ? halves[1] : []) else { return nil }
        self.path = path
        self.query = query
    }

    private static func query(_ text: ArraySlice<UInt8>) -> [String: String]? {
        var query = [String: String]()
        for pair in text.split(separator: UInt8(ascii: "&")) {
            let halves = pair.split(
                separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
            guard let key = PercentCoding.decode(halves[0], isForm: true),
                let value = PercentCoding.decode(halves.count > 1 ? halves[1] : [], isForm: true)
            else { return nil }
            query[key] = value
        }
        return query
    }
}
