import Glibc
import Testing

/// The clock is set while things wait for time to pass.
@Suite("Cases: the clock is set", .timeLimit(.minutes(30)))
@BenchActor
struct ClockCases {
    /// The compiler beside which the tests run builds the clock that can be set.
    private nonisolated static let compiler: String? = {
        let path = unsafe getenv("PATH").map { unsafe String(cString: $0) } ?? ""
        let places = path.split(separator: ":").map { "\($0)/clang" }
        return places.first { unsafe access($0, X_OK) == 0 }
    }()

    private static let year = 365 * 24 * 3_600

    @Test("C46: only printed times move when the clock is set", .enabled(if: compiler != nil))
    func isSet() async throws {
        try await withBench { bench in
            try await buildClock(bench)
            try bench.config(services: [
                .puppet("starts", "--ready 1.5", "ready: notify", "startTimeout: 4s"),
                .puppet(
                    "returns", "--exit 0 --code 1",
                    "restart: {policy: onFailure, backoff: {initial: 1s, max: 1s}}"),
                .puppet(
                    "watched", "--ready 0 --watchdog 0.3", "ready: notify", "watchdog: 1500ms"),
                .puppet(
                    "probed", "", "ready: {exec: {command: [test, -e, made], timeout: 2s}}",
                    "startTimeout: 20s"),
                .puppet("stops", "--term slow:1.5", "stopTimeout: 4s"),
            ])
            let up = try bench.up {
                $0.environment["LD_PRELOAD"] = bench.path("clock.so")
                $0.environment["CLOCK_OFFSET_FILE"] = bench.path("offset")
            }
            try await bench.saw("returns", "exit")
            try bench.write("\(-Self.year)", to: "offset")
            try await bench.saw("returns", "start", count: 2)
            try bench.write("\(Self.year)", to: "offset")
            try await bench.must("wait", "starts", "--for", "ready", "--timeout", "10s")
            try await stopsInTime(bench)
            try bench.write("x", to: "made")
            try await bench.must("wait", "probed", "--for", "ready", "--timeout", "10s")
            try bench.write("0", to: "offset")
            try await bench.must("down")
            try await bench.end(of: up)
            try check(bench)
        }
    }

    /// The clock is set back again while a stop is under way.
    private func stopsInTime(_ bench: Bench) async throws {
        let stop = try bench.start(Launch(bench.arguments(["stop", "stops"])))
        let told = try await bench.saw("stops", "got", "SIGTERM")
        try bench.write("\(-Self.year)", to: "offset")
        #expect(try await bench.end(of: stop) == .exited(0))
        let bye = try await bench.saw("stops", "bye")
        #expect(bye.milliseconds - told.milliseconds >= 1_500)
        #expect(bench.told("service.killed", "stops").isEmpty)
    }

    private func check(_ bench: Bench) throws {
        // The instrument: the record shows that the clock was set, both ways.
        let hours = bench.journal.map { event in
            (event.wallSeconds - event.milliseconds / 1_000) / 3_600
        }
        #expect(Set(hours).count >= 3, "\(Set(hours))")
        // A back-off is a second, up to what is taken off at random.
        for (exit, start) in zip(bench.all("returns", "exit"), bench.all("returns", "start")[1...])
        {
            let wait = start.milliseconds - exit.milliseconds
            #expect(wait >= 400 && wait < 2_500, "\(wait) ms of back-off")
        }
        let starts = bench.all("starts", "start").count + bench.all("watched", "start").count
        #expect(starts == 2, "\(bench.story)")
        for name in ["starts", "watched", "probed", "stops"] {
            #expect(bench.told("service.failed", name).isEmpty, "\(bench.story)")
        }
    }

    private func buildClock(_ bench: Bench) async throws {
        let source = #filePath.split(separator: "/").dropLast(2).reduce("") { $0 + "/" + $1 }
        var launch = Launch([
            Self.compiler ?? "", "-shared", "-fPIC", "-O1", "-o", bench.path("clock.so"),
            source + "/Fixtures/clock/clock.c",
        ])
        launch.isOurs = false
        launch.identity = .ours
        let build = try bench.start(launch)
        let ending = try await bench.end(of: build, within: .seconds(60))
        try #require(ending == .exited(0), "\(build.errors)")
    }
}

extension JournalEvent {
    /// When, on the clock that can be set, in seconds since 1970.
    fileprivate var wallSeconds: Int {
        let rest = line.split(separator: "\"wallNs\":", maxSplits: 1).last ?? ""
        return (Int(rest.prefix { $0.isNumber || $0 == "-" }) ?? 0) / 1_000_000_000
    }
}
