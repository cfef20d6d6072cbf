import Glibc

// Two threads change one number: `scripts/sanitize thread` has to see it. Tasks would not do: on a
// busy machine one thread may run both.

final class Counter { var count = 0 }

let counter = Counter()

@main struct Race {
    static func main() {
        var threads: [pthread_t] = []
        for _ in 0..<2 {
            var thread = pthread_t()
            pthread_create(
                &thread, nil,
                { _ in
                    for _ in 0..<100_000 { counter.count += 1 }
                    return nil
                }, nil)
            threads.append(thread)
        }
        for thread in threads { pthread_join(thread, nil) }
        print(counter.count)
    }
}
