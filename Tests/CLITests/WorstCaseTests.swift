import Manifest
import Stoic
import Testing

@testable import OrchestratorCLI

@Suite("Longest start", .timeLimit(.minutes(1)))
struct StartWorstCaseTests {
    struct Row: Sendable {
        var attempts: Int
        var seconds: Int
    }

    /// T = 30, S = 10, backoff 1, 2, 4, 4, …
    @Test(
        "CLI-6: attempts, the stops between them and the backoff add up",
        arguments: [
            Row(attempts: 1, seconds: 30),
            Row(attempts: 2, seconds: 30 + (10 + 1 + 30)),
            Row(attempts: 3, seconds: 30 + (10 + 1 + 30) + (10 + 2 + 30)),
            Row(attempts: 5, seconds: 30 + 41 + 42 + 44 + 44),
        ])
    func failing(_ row: Row) {
        let spec = service("a", attempts: row.attempts)
        #expect(StartWorstCase.failing(spec) == .seconds(row.seconds))
    }

    @Test("a time beyond a century is for ever, and is computed at once")
    func saturates() {
        let spec = service("a", start: .century, attempts: .max, stop: .century)
        #expect(StartWorstCase.failing(spec) == .century)
    }

    @Test("one hangs: the slowest; all hang: the longest path, named in order")
    func paths() {
        let worst = StartWorstCase(
            of: project([
                service("db", start: .seconds(5)),
                service("migrate", needs: [Need("db")], start: .seconds(60)),
                service("api", needs: [Need("db"), Need("migrate")], start: .seconds(20)),
                service("mail", start: .seconds(70)),
            ]))
        #expect(worst.oneHangs == TimedPath(services: ["mail"], duration: .seconds(70)))
        #expect(
            worst.allHang
                == TimedPath(services: ["db", "migrate", "api"], duration: .seconds(85)))
        #expect(worst.ofEach == [5, 60, 20, 70].map { .seconds($0) })
    }

    @Test("a need that only has to be started costs nothing by itself")
    func started() {
        let worst = StartWorstCase(
            of: project([
                service("a", start: .seconds(5)), service("b", needs: [Need("a")]),
                service("c", needs: [Need("b", .started)], start: .seconds(7)),
            ]))
        #expect(worst.allHang == TimedPath(services: ["a", "b"], duration: .seconds(35)))
    }

    @Test("what up does not start does not count, unless something needs it")
    func manual() {
        var tool = service("tool", start: .seconds(500))
        tool.startsAutomatically = false
        var cache = service("cache", start: .seconds(50))
        cache.startsAutomatically = false
        let web = service("web", needs: [Need("cache")], start: .seconds(1))
        let worst = StartWorstCase(of: project([tool, cache, web]))
        #expect(worst.oneHangs == TimedPath(services: ["cache"], duration: .seconds(50)))
        #expect(worst.allHang.duration == .seconds(51))
    }

    @Test("waiting for a service to complete has no bound and is named")
    func unbounded() {
        let worst = StartWorstCase(
            of: project([service("a"), service("b", needs: [Need("a", .completed)])]))
        #expect(worst.unbounded == [.init(service: "b", need: "a")])
    }

    @Test("no services, no time; a chain of 100,000 is no deeper than any other")
    func extremes() {
        #expect(StartWorstCase(of: project([])).allHang.duration == .zero)
        let chain = (0..<100_000).map { index in
            service(
                ServiceName("s\(index)"),
                needs: index == 0 ? [] : [Need(ServiceName("s\(index - 1)"))], start: .seconds(1))
        }
        let worst = StartWorstCase(of: project(chain))
        #expect(worst.allHang.duration == .seconds(100_000))
        #expect(worst.allHang.services.count == 100_000)
    }
}

@Suite("Longest stop", .timeLimit(.minutes(1)))
struct StopWorstCaseTests {
    @Test("CLI-7: the slot of one stop")
    func slot() {
        func slot(_ stop: Int, _ left: Int, _ later: Int) -> Duration {
            StopWorstCase.slot(.seconds(stop), left: .seconds(left), later: later)
        }
        #expect(slot(10, 30, 0) == .seconds(10))
        #expect(slot(40, 30, 0) == .seconds(30))
        #expect(slot(40, 30, 4) == .seconds(28))
        #expect(slot(40, 30, 50) == .seconds(15))
        #expect(slot(0, 30, 3) == .zero)
        #expect(slot(10, 0, 3) == .zero)
    }

    @Test("one after another: the slowest alone, and no more than the budget together")
    func reverse() {
        let stop = StopWorstCase(
            of: project([service("a"), service("b", stop: .seconds(15)), service("c")]))
        #expect(stop.oneHangs == TimedPath(services: ["b"], duration: .seconds(15)))
        #expect(stop.wanted.duration == .seconds(35))
        #expect(stop.allHang == .seconds(30))
        #expect(stop.tooLong.isEmpty)
    }

    @Test("in parallel: the longest path")
    func parallel() {
        let stop = StopWorstCase(
            of: project(
                [
                    service("db", stop: .seconds(12)), service("api", needs: [Need("db")]),
                    service("mail", stop: .seconds(20)),
                ], stopOrder: .parallel))
        #expect(stop.wanted == TimedPath(services: ["api", "db"], duration: .seconds(22)))
        #expect(stop.allHang == .seconds(22))
        #expect(stop.shortages.isEmpty)
    }

    @Test("CLI-8: the defaults never cut one short because another hangs")
    func defaults() {
        let many = (0..<300).map { service(ServiceName("s\($0)")) }
        let stop = StopWorstCase(of: project(many))
        #expect(stop.shortages.isEmpty && stop.tooLong.isEmpty)
    }

    @Test("CLI-9: one that hangs and takes from another is named, with a budget that is enough")
    func shortage() throws {
        let services = [
            service("db", stop: .seconds(20)),
            service("api", needs: [Need("db")], stop: .seconds(20)),
        ]
        let stop = StopWorstCase(of: project(services))
        let shortage = try #require(stop.shortages.first)
        #expect(stop.shortages.count == 1)  // db stops after api and takes nothing from it
        #expect(shortage.hanging == "api" && shortage.victim == "db" && shortage.others == 0)
        #expect(shortage.slot == .seconds(10))
        let enough = StopWorstCase(of: project(services, exitBudget: shortage.enough))
        #expect(enough.shortages.isEmpty)
    }

    @Test("in a parallel stop only what the hanging one needs loses time")
    func parallelShortage() {
        let services = [
            service("db", stop: .seconds(20)),
            service("api", needs: [Need("db")], stop: .seconds(20)),
            service("mail", stop: .seconds(20)),
        ]
        let stop = StopWorstCase(of: project(services, stopOrder: .parallel))
        #expect(stop.shortages.map(\.hanging) == ["api"])
        #expect(stop.shortages.map(\.victim) == ["db"])
    }

    @Test("a stopTimeout beyond the budget is reported as such, and what it takes from others")
    func tooLong() {
        let stop = StopWorstCase(of: project([service("a", stop: .seconds(60)), service("b")]))
        #expect(stop.tooLong.map(\.victim) == ["a"])
        #expect(stop.tooLong.first?.slot == .seconds(30))
        #expect(stop.shortages.map(\.hanging) == ["a", "b"])
        #expect(stop.shortages.map(\.victim) == ["b", "a"])
    }

    @Test("CLI-10: the list of shortages has an end")
    func capped() {
        let many = (0..<100).map { service(ServiceName("s\($0)"), stop: .seconds(20)) }
        let stop = StopWorstCase(of: project(many))
        #expect(stop.shortages.count == StopWorstCase.mostShortages)
        #expect(stop.hasMoreShortages)
    }

    /// Every order the needs allow, every stop after every other: what the closed form claims to
    /// be the smallest slot.
    @Test("CLI-11: the arithmetic agrees with trying every order", arguments: [2, 3, 4, 5])
    func exhaustive(budget: Int) {
        let stops = [Duration.seconds(1), .milliseconds(1_500), .seconds(3), .seconds(2)]
        let services = [
            service("a", stop: stops[0]), service("b", needs: [Need("a")], stop: stops[1]),
            service("c", stop: stops[2]),
            service("d", needs: [Need("b"), Need("c")], stop: stops[3]),
        ]
        let found = StopWorstCase(of: project(services, exitBudget: .seconds(budget)))
        let needs = [1: [0], 3: [1, 2, 0]]
        for hanging in services.indices {
            var smallest: [Int: Duration] = [:]
            for order in permutations([0, 1, 2, 3]) where allows(order, needs) {
                tryOrder(order, hanging, stops, .seconds(budget), &smallest)
            }
            let worst = smallest.map { stops[$0.key] - $0.value }.max()
            let reported = found.shortages.first { $0.hanging == services[hanging].name }
            let missing = reported.map { $0.stopTimeout - $0.slot }
            #expect(missing == worst, "\(services[hanging].name) with \(budget) s")
        }
    }

    private func allows(_ order: [Int], _ needs: [Int: [Int]]) -> Bool {
        order.enumerated().allSatisfy { place, service in
            (needs[service] ?? []).allSatisfy { order.prefix(place).contains($0) == false }
        }
    }

    private func tryOrder(
        _ order: [Int], _ hanging: Int, _ stops: [Duration], _ budget: Duration,
        _ smallest: inout [Int: Duration]
    ) {
        var left = budget
        for (place, service) in order.enumerated() {
            let later = order.count - 1 - place
            let slot = StopWorstCase.slot(stops[service], left: left, later: later)
            let alone = StopWorstCase.slot(stops[service], left: budget, later: later)
            if service == hanging { left -= slot }
            if slot < alone { smallest[service] = min(slot, smallest[service] ?? .century) }
        }
    }

    private func permutations(_ items: [Int]) -> [[Int]] {
        guard !items.isEmpty else { return [[]] }
        return items.flatMap { item in
            permutations(items.filter { $0 != item }).map { [item] + $0 }
        }
    }
}
