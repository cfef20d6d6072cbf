import Stoic

/// One run of a schedule as `retry` would make it, with work that takes a known time.
struct ScheduleRun {
    let schedule: Schedule
    var state = Schedule.State()
    var elapsed = Duration.zero
    var random: RandomSource

    init(_ schedule: Schedule, seed: UInt64 = 1) {
        self.schedule = schedule
        random = .seeded(seed)
    }

    /// The next delay, after work of `work` and slept in full; `nil` when it is done.
    mutating func next(work: Duration = .zero) -> Duration? {
        elapsed = elapsed.saturatingSum(work)
        let step = schedule.next(&state, elapsed: elapsed, random: &random)
        guard case .delay(let delay) = step else { return nil }
        elapsed = elapsed.saturatingSum(delay)
        return delay
    }

    /// The first delays, at most `count`.
    static func delays(
        _ schedule: Schedule, _ count: Int, seed: UInt64 = 1, work: Duration = .zero
    ) -> [Duration] {
        var run = ScheduleRun(schedule, seed: seed)
        var delays: [Duration] = []
        while delays.count < count, let delay = run.next(work: work) { delays.append(delay) }
        return delays
    }
}

/// A schedule drawn at random, at most `depth` rules deep; now and then with absurd numbers.
func randomSchedule(_ random: inout RandomSource, depth: Int = 4) -> Schedule {
    guard depth > 0, Int.random(in: 0..<5, using: &random) > 0 else {
        return randomLeaf(&random)
    }
    let inner = randomSchedule(&random, depth: depth - 1)
    switch Int.random(in: 0..<8, using: &random) {
    case 0: return inner.limited(to: Int.random(in: 0...20, using: &random))
    case 1: return inner.within(randomDuration(&random))
    case 2: return inner.then(randomSchedule(&random, depth: depth - 1))
    case 3: return inner.union(randomSchedule(&random, depth: depth - 1))
    case 4: return inner.intersect(randomSchedule(&random, depth: depth - 1))
    case 5:
        return inner.map { delay in delay - .seconds(1) }
    default: return inner.jittered(randomJitter(&random))
    }
}

private func randomLeaf(_ random: inout RandomSource) -> Schedule {
    let (one, two) = (randomDuration(&random), randomDuration(&random))
    switch Int.random(in: 0..<7, using: &random) {
    case 0: return .exponential(base: one, factor: .random(in: 1...10, using: &random), cap: two)
    case 1: return .linear(one, step: two, cap: randomDuration(&random))
    case 2: return .fibonacci(one, cap: two)
    case 3: return .fixed(max(one, .nanoseconds(1)))
    case 4: return .spaced(one)
    case 5: return .immediate
    default: return .never
    }
}

private func randomJitter(_ random: inout RandomSource) -> Jitter {
    switch Int.random(in: 0..<5, using: &random) {
    case 0: return .none
    case 1: return .full
    case 2: return .equal
    case 3: return .decorrelated(max: randomDuration(&random))
    default:
        let low = Double.random(in: 0...1, using: &random)
        return .factor(low...Double.random(in: low...1, using: &random))
    }
}

/// From nothing to more than there is, every order of magnitude as likely.
func randomDuration(_ random: inout RandomSource) -> Duration {
    switch Int.random(in: 0..<12, using: &random) {
    case 0: return .zero
    case 1: return .seconds(Int64.max)
    default:
        let bits = Int.random(in: 0..<62, using: &random)
        return .nanoseconds(Int64.random(in: 0...(1 << bits), using: &random))
    }
}
