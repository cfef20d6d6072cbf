// Two tasks change one number: `scripts/sanitize thread` has to see it.

final class Counter { var count = 0 }

@main struct Race {
    static func main() async {
        let counter = Counter()
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<2 {
                group.addTask { for _ in 0..<100_000 { counter.count += 1 } }
            }
        }
        print(counter.count)
    }
}
