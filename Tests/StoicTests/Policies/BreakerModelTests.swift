import StoicTesting
import Testing

@testable import Stoic

/// A breaker as its contract says it, with a list instead of a ring, and no cleverness.
private struct BreakerModel {
    enum Phase: Equatable { case closed, open(until: Int64), halfOpen }
    let settings: CircuitBreaker.Settings
    var phase = Phase.closed
    var calls: [(at: Int64, failed: Bool)] = []
    var generation: UInt64 = 0
    var openings = 0
    var probes = 0
    var successes = 0
    var lastMove: Int64 = 0

    mutating func enter(_ next: Phase) {
        phase = next
        generation += 1
        calls = []
        probes = 0
        successes = 0
    }

    /// How long it may stay open now.
    var openRange: ClosedRange<Int64> {
        var whole = settings.openFor.nanoseconds
        for _ in 0..<openings { whole = min(whole * 2, settings.openForAtMost.nanoseconds) }
        return (whole / 2)...(whole + 1)
    }

    mutating func admit(_ now: Int64) -> Bool {
        if case .open(let until) = phase {
            guard now >= until else { return false }
            enter(.halfOpen)
        }
        guard phase == .halfOpen else { return true }
        if probes < settings.probes {
            probes += 1
            lastMove = now
            return true
        }
        if now - lastMove >= settings.openFor.nanoseconds { enter(.open(until: .max)) }
        return false
    }

    mutating func settle(_ born: UInt64, _ outcome: BreakerCore.Outcome, _ now: Int64) {
        guard born == generation else { return }
        if phase == .halfOpen {
            probes -= 1
            lastMove = now
            if outcome == .failed { enter(.open(until: .max)) }
            if outcome == .succeeded {
                successes += 1
                if successes == settings.successesToClose {
                    openings = 0
                    enter(.closed)
                }
            }
            return
        }
        if outcome == .ignored { return }
        calls.append((now, outcome == .failed))
        let width = settings.window.nanoseconds / 10
        let recent = calls.filter { $0.at / width > now / width - 10 }
        let failures = recent.filter(\.failed).count
        if recent.count >= settings.minimumCalls,
            Double(failures) / Double(recent.count) >= settings.failureRatio
        {
            enter(.open(until: .max))
        }
    }
}

@Suite("CircuitBreaker, model", .timeLimit(.minutes(2)))
struct BreakerModelTests {
    enum Command: Sendable {
        case pass(milliseconds: Int64)
        case call(BreakerCore.Outcome)
        case begin
        case end(Int, BreakerCore.Outcome)
    }

    static func command(_ random: inout RandomSource) -> Command {
        let outcomes: [BreakerCore.Outcome] = [.succeeded, .failed, .failed, .ignored]
        let outcome = outcomes[Int.random(in: 0..<4, using: &random)]
        switch Int.random(in: 0..<10, using: &random) {
        case 0: return .pass(milliseconds: .random(in: 0...40_000, using: &random))
        case 1, 2: return .pass(milliseconds: .random(in: 0...2_000, using: &random))
        case 3: return .begin
        case 4: return .end(.random(in: 0..<6, using: &random), outcome)
        default: return .call(outcome)
        }
    }

    @Test("agrees with its model on random commands")
    func model() throws {
        for probes in 1...2 {
            var settings = CircuitBreaker.Settings()
            settings.minimumCalls = 4
            settings.probes = probes
            settings.successesToClose = 2
            let check = ModelCheck(length: 150, command: Self.command) {
                disagreement($0, settings)
            }
            try check.check(seeds: 0..<1_000)
        }
    }

    @Test("a model that is wrong by one call is found, with few commands")
    func wrongModel() {
        var settings = CircuitBreaker.Settings()
        settings.minimumCalls = 4
        var wrong = settings
        wrong.minimumCalls = 5
        let check = ModelCheck(length: 150, command: Self.command) {
            disagreement($0, settings, model: wrong)
        }
        let found = #expect(throws: Counterexample<Command>.self) {
            try check.check(seeds: 0..<100)
        }
        #expect((found?.commands.count ?? 100) <= 5)
    }

    private func disagreement(
        _ commands: [Command], _ settings: CircuitBreaker.Settings,
        model modelSettings: CircuitBreaker.Settings? = nil
    ) -> String? {
        var pair = Pair(
            core: BreakerCore(settings, random: .seeded(3)),
            model: BreakerModel(settings: modelSettings ?? settings))
        for (index, command) in commands.enumerated() {
            guard let difference = pair.step(command) ?? pair.difference else { continue }
            return "\(index): \(difference)"
        }
        return nil
    }

    /// A breaker and its model, of which the same is asked.
    private struct Pair {
        var core: BreakerCore
        var model: BreakerModel
        var now: Int64 = 0
        var running: [(BreakerCore.Ticket, UInt64)] = []

        mutating func step(_ command: Command) -> String? {
            switch command {
            case .pass(let milliseconds):
                now += milliseconds * 1_000_000
            case .begin:
                return begin()
            case .call(let outcome):
                let count = running.count
                if let difference = begin() { return difference }
                if running.count > count { end(count, outcome) }
            case .end(let place, let outcome):
                if place < running.count { end(place, outcome) }
            }
            return nil
        }

        private mutating func begin() -> String? {
            let isExpected = model.admit(now)
            guard case .admitted(let ticket) = core.admit(at: now).0 else {
                return isExpected ? "refused" : nil
            }
            running.append((ticket, model.generation))
            return isExpected ? nil : "admitted"
        }

        private mutating func end(_ place: Int, _ outcome: BreakerCore.Outcome) {
            let (ticket, born) = running.remove(at: place)
            _ = core.settle(ticket, outcome, at: now)
            model.settle(born, outcome, now)
        }

        /// How the two differ now. The jitter is the core's: the model takes it over once it is
        /// within its bounds.
        var difference: String? {
            mutating get {
                switch (core.phase, model.phase) {
                case (.closed, .closed):
                    return nil
                case (.halfOpen(let probing), .halfOpen):
                    let isSame =
                        probing.running == model.probes && probing.successes == model.successes
                    return isSame ? nil : "\(probing) for \(model.probes), \(model.successes)"
                case (.open(let until), .open(.max)):
                    guard model.openRange.contains(until - now) else {
                        return "open for \(until - now)"
                    }
                    model.openings += 1
                    model.phase = .open(until: until)
                    return nil
                case (.open(let until), .open(let expected)):
                    return until == expected ? nil : "open until \(until)"
                case (.closed, _), (.open, _), (.halfOpen, _):
                    return "\(core.phase) for \(model.phase)"
                }
            }
        }
    }

    @Test("the window counts like a list of calls, in any order of times")
    func window() {
        for seed in UInt64(0)..<500 {
            var random = RandomSource.seeded(seed)
            let buckets = Int.random(in: 1...12, using: &random)
            let width = Int64.random(in: 1...1_000, using: &random)
            var window = FailureWindow(length: width * Int64(buckets), buckets: buckets)
            var calls: [(Int64, Bool)] = []
            var now: Int64 = 0
            for _ in 0..<200 {
                now += Int64.random(in: 0...(width * 2), using: &random)
                let failed = Bool.random(using: &random)
                window.record(failed: failed, at: now)
                calls.append((now, failed))
                let recent = calls.filter { $0.0 / width > now / width - Int64(buckets) }
                let totals = window.totals(at: now)
                #expect(totals.calls == recent.count)
                #expect(totals.failures == recent.filter(\.1).count)
            }
        }
    }
}
