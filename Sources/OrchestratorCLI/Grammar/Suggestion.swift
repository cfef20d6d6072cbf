/// The word nearest to what was typed, if it is near enough to be meant: at most a third of the
/// letters differ, and at least one edit is always forgiven in words of three letters or more.
///
/// - Complexity: O(words × letters²); both come from our own table and one word of the user, of
///   which words longer than 64 letters are never near anything.
func nearest(to typed: String, among words: [String]) -> String? {
    guard typed.count <= 64 else { return nil }
    let letters = Array(typed.lowercased())
    var best: (word: String, distance: Int)?
    for word in words where word != typed {
        let distance = editDistance(letters, Array(word.lowercased()))
        let longer = max(letters.count, word.count)
        guard distance == 0 || longer >= 3, distance <= max(1, longer / 3) else { continue }
        if distance < (best?.distance ?? Int.max) { best = (word, distance) }
    }
    return best?.word ?? onlyCompletion(of: typed, among: words)
}

/// The one word that begins with what was typed.
private func onlyCompletion(of typed: String, among words: [String]) -> String? {
    let candidates = words.filter { $0.hasPrefix(typed) && $0 != typed }
    return typed.count >= 2 && candidates.count == 1 ? candidates.first : nil
}

/// Insertions, removals, replacements and swaps of neighbours that turn one word into the other.
func editDistance(_ left: [Character], _ right: [Character]) -> Int {
    var beforeLast = [Int](repeating: 0, count: right.count + 1)
    var last = Array(0...right.count)
    for row in left.indices {
        var current = [row + 1]
        for column in right.indices {
            let replaced = last[column] + (left[row] == right[column] ? 0 : 1)
            var cost = min(replaced, last[column + 1] + 1, current[column] + 1)
            let swapped =
                row > 0 && column > 0 && left[row] == right[column - 1]
                && left[row - 1] == right[column]
            if swapped { cost = min(cost, beforeLast[column - 1] + 1) }
            current.append(cost)
        }
        beforeLast = last
        last = current
    }
    return last[right.count]
}
