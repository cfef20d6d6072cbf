/// The word of `words` that `text` was probably meant to be: at most a third of its letters apart
/// (two at most, swapped neighbours counting once), case apart counting nothing. The first of
/// equals wins.
/// - Complexity: O(words × length); no more than the first 1,000 words are looked at.
func nearest(to text: String, among words: some Sequence<String>) -> String? {
    let wanted = Array(text.lowercased().utf8)
    guard wanted.count <= 64 else { return nil }
    let limit = min(2, max(1, wanted.count / 3))
    var best: (word: String, distance: Int)?
    for word in words.prefix(1_000) where abs(word.utf8.count - wanted.count) <= limit {
        let candidate = Array(word.lowercased().utf8)
        guard candidate.count <= 64 else { continue }
        let distance = editDistance(wanted, candidate, atMost: limit)
        if distance <= limit, distance < best?.distance ?? Int.max { best = (word, distance) }
    }
    return best?.word
}

/// How many letters have to be inserted, removed, replaced or swapped with a neighbour; anything
/// above `limit` once that is certain.
func editDistance(_ left: [UInt8], _ right: [UInt8], atMost limit: Int) -> Int {
    var beforeLast: [Int] = []
    var last = Array(0...right.count)
    for (row, letter) in left.enumerated() {
        var current = [row + 1]
        current.reserveCapacity(right.count + 1)
        for (column, other) in right.enumerated() {
            var cost = min(last[column + 1], current[column]) + 1
            cost = min(cost, last[column] + (letter == other ? 0 : 1))
            if row > 0, column > 0, letter == right[column - 1], left[row - 1] == other {
                cost = min(cost, beforeLast[column - 1] + 1)
            }
            current.append(cost)
        }
        guard current.contains(where: { $0 <= limit }) else { return limit + 1 }
        (beforeLast, last) = (last, current)
    }
    return last[right.count]
}
