import Manifest
import Stoic
import Testing

@Suite("How a service is probed for whether it lives", .timeLimit(.minutes(1)))
struct LiveTests {
    @Test("nothing said, nothing probed; the defaults; everything said")
    func read() throws {
        let none = try load(one("description: plain")).service("a")
        #expect(none.live == nil && none.spec.liveThreshold == nil)
        let plain = try load(one("live: {tcp: 8080}")).service("a")
        #expect(
            plain.live?.wrappedValue
                == LiveDefinition(probe: .tcp(host: "127.0.0.1", port: 8080)))
        #expect(plain.spec.liveThreshold == 3)
        let whole = try load(
            one("live: {exec: [check, -q], interval: 200ms, timeout: 1m, threshold: 100}")
        ).service("a")
        #expect(
            whole.live?.wrappedValue
                == LiveDefinition(
                    probe: .exec([Template(literal: "check"), Template(literal: "-q")]),
                    interval: .milliseconds(200), timeout: .seconds(60)))
        #expect(whole.spec.liveThreshold == 100)
        let unix = try load(one("live: {unix: run/app.sock}")).service("a")
        #expect(unix.live?.wrappedValue.probe == .unix("/project/run/app.sock"))
    }

    @Test("a changed interval, timeout or threshold is another promise to what runs")
    func digest() throws {
        let texts = [
            "{tcp: 80}", "{tcp: 81}", "{unix: '80'}", "{exec: '80'}", "{tcp: 80, interval: 1s}",
            "{tcp: 80, timeout: 1s}", "{tcp: 80, threshold: 4}",
        ]
        let digests = try texts.map {
            try load(one("live: \($0)")).service("a").spec.launchDigest
        }
        #expect(Set(digests).count == texts.count)
    }

    @Test("whoever is ready at exec is probed while it may still start: a warning says so")
    func warning() {
        let found = problemsOfOne("live: {tcp: 80}")
        #expect(found.hasPrefix("warning: services.a.live: it counts as ready"), "\(found)")
        #expect(problemsOfOne("live: {tcp: 80}\nready: notify").isEmpty)
    }

    @Test(
        "CFG-27: what is no probe is refused with those there are",
        arguments: [
            ("{}", "expected exactly one of tcp, unix and exec, found none"),
            ("{interval: 1s}", "expected exactly one of tcp, unix and exec, found none"),
            ("{tcp: 80, exec: x}", "expected exactly one of tcp, unix and exec, found tcp, exec"),
            ("{tcp: web}", "\"web\" is not a port (write 5432, localhost:5432 or [::1]:5432)"),
            ("{http: /health}", "unknown key \"http\" (use tcp, or exec with an HTTP client)"),
            ("{tcp: 80, retries: 3}", "unknown key \"retries\" (use threshold)"),
            ("{tcp: 80, threshold: 0}", "expected a whole number from 1 to 100, found \"0\""),
            (
                "{tcp: 80, interval: 0s}",
                "services.a.live.interval: 0s is too short: it has to be longer than 0s"
            ),
            ("notify", "services.a.live: expected a map, found \"notify\""),
        ])
    func refused(_ text: String, _ expected: String) {
        let found = problemsOfOne("live: \(text)")
        #expect(found.contains(expected), "\(text): \(found)")
    }
}
