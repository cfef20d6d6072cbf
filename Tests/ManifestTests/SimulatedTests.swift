import Manifest
import Stoic
import Testing

@Suite("x-simulate", .timeLimit(.minutes(1)))
struct SimulatedTests {
    @Test("every key is read")
    func reads() throws {
        let project = try load(
            one(
                """
                control: true
                x-simulate:
                  launch: 10ms
                  ready: 2s
                  run: 1m
                  exitCode: 3
                  stop: 4s
                  escape: true
                  message: answers
                """))
        var wanted = SimulatedDefinition()
        wanted.launch = .milliseconds(10)
        wanted.ready = .seconds(2)
        wanted.run = .seconds(60)
        wanted.exitCode = 3
        wanted.stop = .seconds(4)
        wanted.escapes = true
        wanted.message = .answers
        #expect(try project.service("a").simulated?.wrappedValue == wanted)
        let without = try load(one("control: true"))
        #expect(try without.service("a").simulated?.wrappedValue == nil)
    }

    @Test("it restarts nothing: the launch is the same")
    func digest() throws {
        let with = try load(one("x-simulate: {ready: 2s}")).service("a").spec
        let without = try load(one("")).service("a").spec
        #expect(with == without)
    }

    @Test(
        "SIM-10: a mistake is named with its place and what to write",
        arguments: [
            ("{redy: 2s}", #"unknown key "redy" (did you mean "ready"?)"#),
            ("{term: 2s}", #"unknown key "term" (use stop)"#),
            ("{ready: 2}", #"ready: "2" has no unit (write 2s or 2ms)"#),
            ("{exitCode: 256, run: 1s}", "exitCode: "),
            ("{exitCode: 1}", "exitCode: exitCode without run"),
            ("{stop: 1s, ignoreTerm: true}", "stop: stop and ignoreTerm: true exclude each other"),
            ("{message: stops}", "message: message is for a service with a control channel"),
            ("{message: maybe}", "message: "),
            ("yes", "expected a map"),
        ])
    func mistakes(value: String, words: String) {
        let found = problems(one("x-simulate: \(value)"))
        #expect(found.hasPrefix("o.yaml:4:"), "\(found)")
        #expect(found.contains("services.a.x-simulate"), "\(found)")
        #expect(found.contains(words), "\(found)")
    }

    @Test("other keys that begin with x- are free, there too")
    func free() throws {
        #expect(problems(one("x-simulate: {x-note: hello}\nx-anything: [1, 2]")) == "")
    }
}
