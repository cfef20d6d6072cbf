import StoicTesting
import Testing

@testable import Stoic

@Suite("Schedule", .timeLimit(.minutes(2)))
struct ScheduleTests {
    @Test("SCH-1: a million steps grow to the cap and stay there, whatever the numbers")
    func growth() {
        let schedules: [Schedule] = [
            .exponential(), .exponential(base: .nanoseconds(1), factor: 1.01, cap: .century),
            .exponential(base: .seconds(1), factor: .greatestFiniteMagnitude, cap: .seconds(9)),
            .linear(.milliseconds(1), step: .seconds(Int64.max), cap: .century),
            .linear(.zero, step: .nanoseconds(3)), .fibonacci(.milliseconds(7), cap: .century),
        ]
        for schedule in schedules {
            var last = Duration.zero
            for step in stride(from: 0, to: 1_000_000, by: 101) {
                let delay = schedule.delayBeforeJitter(step: step)
                #expect(delay >= last && delay <= schedule.cap)
                last = delay
            }
            #expect(schedule.delayBeforeJitter(step: .max) >= last)
        }
        var run = ScheduleRun(.exponential())
        for _ in 0..<1_000_000 where run.next() == nil { Issue.record("an end without a limit") }
        #expect(run.next() == .seconds(20))
    }

    @Test("SCH-2: no jitter exceeds the cap, and its mean is that of its kind")
    func jitter() {
        let whole = Duration.seconds(2)
        let kinds: [(Jitter, mean: Double)] = [
            (.none, 2), (.full, 1), (.equal, 1.5), (.factor(0.8...1), 1.8), (.factor(0.5...0.5), 1),
        ]
        for (kind, mean) in kinds {
            let schedule = Schedule.spaced(whole).jittered(kind)
            var random = RandomSource.seeded(42)
            var sum = Duration.zero
            for _ in 0..<100_000 {
                let delay = schedule.delay(step: 0, random: &random)
                if delay < .zero || delay > whole { Issue.record("\(kind) drew \(delay)") }
                sum += delay
            }
            #expect(abs(sum / 100_000 / .seconds(1) - mean) <= mean / 100)
        }
    }

    @Test("SCH-2: decorrelated jitter lies between the first delay and three times the last")
    func decorrelated() {
        var random = RandomSource.seeded(3)
        var sum = Duration.zero
        for _ in 0..<100_000 {
            sum += Jitter.drawDecorrelated(
                after: .seconds(1), first: .milliseconds(500), max: .seconds(9), random: &random)
        }
        #expect(abs(sum / 100_000 / .milliseconds(1_750) - 1) < 0.01)
        let schedule = Schedule.exponential().jittered(.decorrelated(max: .seconds(5)))
        var last = Duration.milliseconds(100)
        for delay in ScheduleRun.delays(schedule, 10_000) {
            if delay < .milliseconds(100) || delay > min(last * 3, .seconds(5)) {
                Issue.record("\(delay) after \(last)")
            }
            last = delay
        }
        #expect(
            ScheduleRun.delays(
                .spaced(.seconds(9)).jittered(.decorrelated(max: .seconds(1))).limited(to: 2), 5)
                == [.seconds(1), .seconds(1)])
    }

    @Test("SCH-3: a union is the shorter until both are done, an intersection the longer until one")
    func pairs() {
        let short = Schedule.spaced(.seconds(1)).limited(to: 2)
        let long = Schedule.linear(.milliseconds(400), step: .milliseconds(400)).limited(to: 4)
        #expect(
            ScheduleRun.delays(short.union(long), 9)
                == [
                    .milliseconds(400), .milliseconds(800), .milliseconds(1_200),
                    .milliseconds(1_600),
                ])
        #expect(ScheduleRun.delays(short.intersect(long), 9) == [.seconds(1), .seconds(1)])
        #expect(short.intersect(long).cap == .seconds(20))
        #expect(ScheduleRun.delays(short.then(long), 9).count == 6)
        #expect(ScheduleRun.delays(Schedule.never.union(short), 9).count == 2)
        #expect(ScheduleRun.delays(Schedule.never.intersect(short), 9) == [])
    }

    @Test("SCH-4: a long jittered union never becomes a tight loop")
    func longUnion() {
        let union = Schedule.exponential(base: .milliseconds(100))
            .union(.spaced(.seconds(1))).jittered(.equal)
        let delays = ScheduleRun.delays(union, 100_000)
        #expect(delays.count == 100_000)
        #expect(delays.allSatisfy { $0 >= .milliseconds(50) && $0 <= .seconds(1) })
        let full = Schedule.exponential(base: .milliseconds(100)).jittered()
            .union(Schedule.spaced(.seconds(1)).jittered())
        let sum = ScheduleRun.delays(full, 100_000).reduce(Duration.zero, +)
        // The smaller of two draws, the second from zero to a second, is a third on the average.
        #expect(sum > .seconds(30_000))
    }

    @Test("SCH-5: work longer than the period skips to the next multiple, one run each")
    func fixed() {
        var run = ScheduleRun(.fixed(.seconds(10)))
        #expect(run.next() == .seconds(10))
        #expect(run.next(work: .seconds(25)) == .seconds(5))  // at 40
        #expect(run.next(work: .seconds(10)) == .zero)  // the one at 50 is due and was not run
        #expect(run.next(work: .seconds(1)) == .seconds(9))
        run.elapsed += .milliseconds(1)  // a sleep that overshot
        #expect(run.next() == .milliseconds(9_999))
        run.elapsed -= .milliseconds(1)  // one that undershot
        #expect(run.next() == .milliseconds(10_001))
    }

    @Test("SCH-5: whatever the work and the timer do, each multiple has at most one run")
    func fixedProperty() {
        var random = RandomSource.seeded(8)
        for _ in 0..<200 {
            let period = Duration.milliseconds(.random(in: 1...10_000, using: &random))
            var run = ScheduleRun(.fixed(period))
            var fired: Duration?
            for _ in 0..<100 {
                let work = period * Double.random(in: 0...3, using: &random)
                guard let delay = run.next(work: work) else { return }
                let multiple = run.elapsed
                #expect(delay >= .zero && multiple.attoseconds % period.attoseconds == 0)
                if let fired { #expect(multiple > fired) }
                fired = multiple
                run.elapsed += period * Double.random(in: -0.4...0.4, using: &random)
            }
        }
    }

    @Test("SCH-6: one seed gives the same delays, and a copy of a place goes on by itself")
    func sameSeed() {
        var random = RandomSource.seeded(21)
        for seed in 0..<300 as Range<UInt64> {
            let schedule = randomSchedule(&random)
            let delays = ScheduleRun.delays(schedule, 50, seed: seed, work: .milliseconds(3))
            #expect(
                delays == ScheduleRun.delays(schedule, 50, seed: seed, work: .milliseconds(3)))
            var run = ScheduleRun(schedule, seed: seed)
            for delay in delays.prefix(20) { #expect(run.next(work: .milliseconds(3)) == delay) }
            var copy = run
            #expect(copy.next() == run.next())
        }
    }

    @Test("SCH-7: absurd numbers saturate: a delay lies between zero and the cap")
    func randomTrees() {
        var random = RandomSource.seeded(77)
        for seed in 0..<2_000 as Range<UInt64> {
            let schedule = randomSchedule(&random)
            var run = ScheduleRun(schedule, seed: seed)
            for _ in 0..<30 {
                let work = randomDuration(&random)
                guard let delay = run.next(work: work) else {
                    #expect(run.next() == nil && run.next(work: .zero - .seconds(9)) == nil)
                    break
                }
                let isBounded = delay >= .zero && delay <= schedule.cap && delay <= .century
                #expect(isBounded, "\(delay) of \(schedule)")
            }
            #expect(schedule == schedule && schedule.hashValue == schedule.hashValue)
            let direct = schedule.delay(step: 3, random: &random)
            #expect(direct >= .zero && direct <= .century)
        }
    }

    @Test("the delays of a step are those of a run without work")
    func byStep() {
        let union = Schedule.fibonacci(.seconds(1), cap: .seconds(8)).union(.spaced(.seconds(4)))
        #expect((0..<6).map { union.delayBeforeJitter(step: $0) } == ScheduleRun.delays(union, 6))
        let limited = Schedule.spaced(.seconds(1)).limited(to: 2)
        #expect(
            (0..<3).map { limited.delayBeforeJitter(step: $0) } == [
                .seconds(1), .seconds(1), .century,
            ])
        #expect(Schedule.never.delayBeforeJitter(step: 0) == .century)
        var one = RandomSource.seeded(5)
        var other = one
        let jittered = Schedule.restartDefault
        #expect(jittered.jitter == 0.8...1 && jittered.base == .milliseconds(500))
        #expect(jittered.factor == 2 && jittered.cap == .seconds(30))
        let range = jittered.jitter
        #expect(
            jittered.delay(step: 1, random: &one)
                == .seconds(1) * Double.random(in: range, using: &other))
    }

    @Test("limits in time: nothing begins later, and `then` starts a new clock")
    func within() {
        let schedule = Schedule.spaced(.seconds(4)).within(.seconds(10))
        #expect(ScheduleRun.delays(schedule, 9) == [.seconds(4), .seconds(4)])
        #expect(ScheduleRun.delays(schedule, 9, work: .seconds(3)) == [.seconds(4)])
        let twice = schedule.then(.fixed(.seconds(5)).within(.seconds(10)))
        #expect(
            ScheduleRun.delays(twice, 9) == [.seconds(4), .seconds(4), .seconds(5), .seconds(5)])
        let mapped = Schedule.linear(.seconds(1), step: .seconds(1)).map { $0 - .seconds(2) }
        #expect(ScheduleRun.delays(mapped, 3) == [.zero, .zero, .seconds(1)])
        #expect(mapped == mapped && mapped != mapped.map { $0 })
    }
}
