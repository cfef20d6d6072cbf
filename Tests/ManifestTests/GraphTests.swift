import Glibc
import Manifest
import Stoic
import Testing

@Suite("Graphs of services in a config", .timeLimit(.minutes(1)))
struct GraphTests {
    @Test("CFG-1: a cycle is spelled out, however it is reached")
    func cycles() {
        #expect(
            problems(
                """
                services:
                  a: {command: [x], needs: [b]}
                  b: {command: [x], needs: [c]}
                  c: {command: [x], needs: [a]}
                """) == "o.yaml:2:29: services.a.needs: services need each other in a circle: "
                + "a → b → c → a")
        #expect(
            problems("services:\n  a: {command: [x], needs: {a: {required: false}}}\n")
                == "o.yaml:2:29: services.a.needs: services need each other in a circle: a → a")
        let far = """
            services:
              one: {command: [x], needs: [two]}
              two: {command: [x], needs: [three]}
              three: {command: [x], needs: [four]}
              four: {command: [x], needs: [five]}
              five: {command: [x], needs: [x]}
              x: {command: [x], needs: [y]}
              y: {command: [x], needs: [x]}
            """
        #expect(problems(far).hasSuffix("services need each other in a circle: x → y → x"))
    }

    @Test("CFG-2: a chain of 5,000 services loads within a second and no stack overflows")
    func longChain() throws {
        var text = "services:\n"
        for number in 0..<5_000 {
            text += "  service-\(number):\n    command: [sleep, \"600\"]\n"
            if number > 0 { text += "    needs: [service-\(number - 1)]\n" }
        }
        let before = threadTime()
        let project = try load(text)
        let used = threadTime() - before
        #expect(project.services.count == 5_000)
        #expect(project.services.last?.spec.needs == [Need("service-4998")])
        #expect(used < .seconds(1), "took \(used)")
    }

    private func threadTime() -> Duration {
        var time = timespec()
        _ = unsafe clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
    }

    @Test("all unknown needs are named, with what they may have meant")
    func unknownNeeds() {
        #expect(
            problems(
                """
                services:
                  database: {command: [x]}
                  web: {command: [x], needs: [databse, cache]}
                  jobs: {command: [x], needs: {Database: {}, web: {onNeedLost: restart}}}
                """) == """
                    o.yaml:3:31: services.web.needs: no service "databse" (did you mean "database"?)
                    o.yaml:3:40: services.web.needs: no service "cache"
                    o.yaml:4:32: services.jobs.needs: no service "Database" \
                    (did you mean "database"?)
                    """)
    }

    @Test("CFG-13: a value is for those that need its service, and has to be provided")
    func references() {
        #expect(
            problems(
                """
                services:
                  db: {command: [x], provides: {url: "u", port: {from: ready}}}
                  bare: {command: [x]}
                  web:
                    command: [x, "${db.url}", "${db.prot}", "${bare.url}", "${dv.url}"]
                    needs: [db]
                    environment: ["A=${bare.x}"]
                    workingDirectory: ${db.url}
                  opt:
                    command: [x, "${db.port}"]
                    needs: {db: {required: false}}
                """) == """
                    o.yaml:5:31: services.web.command[2]: ${db.prot}: db provides port or url \
                    (did you mean "port"?)
                    o.yaml:5:45: services.web.command[3]: ${bare.url}: web does not need bare \
                    (add bare to the needs of web)
                    o.yaml:5:60: services.web.command[4]: ${dv.url}: no service "dv" \
                    (did you mean "db"?)
                    o.yaml:7:19: services.web.environment[0]: ${bare.x}: web does not need bare \
                    (add bare to the needs of web)
                    o.yaml:8:23: services.web.workingDirectory: values of other services cannot be \
                    used in this key (they can in command, environment and provides)
                    o.yaml:10:18: warning: services.opt.command[1]: ${db.port}: opt cannot start \
                    without this value, although its need of db is not required
                    """)
        #expect(
            problems("environment: {A: \"${a.b}\"}\nservices: {a: {command: [x]}}").contains(
                "values of services cannot be used in the variables of the project"))
    }

    @Test("CFG-20: extending in a circle, nothing, or too long a chain is refused")
    func extending() {
        #expect(
            problems(
                """
                defaults: {extends: a}
                services:
                  a: {command: [x], extends: b}
                  b: {command: [x], extends: a}
                  c: {command: [x], extends: c}
                  d: {extends: aa}
                """) == """
                    o.yaml:1:21: defaults.extends: defaults cannot extend a service
                    o.yaml:3:30: services.a.extends: services extend each other in a circle: \
                    a → b → a
                    o.yaml:5:30: services.c.extends: services extend each other in a circle: c → c
                    o.yaml:6:3: services.d: command is missing (it is the program to run: [name, …])
                    o.yaml:6:16: services.d.extends: no service "aa" (did you mean "a"?)
                    """)
        var chain = "services:\n  s0: {command: [x]}\n"
        for number in 1...65 { chain += "  s\(number): {extends: s\(number - 1)}\n" }
        #expect(problems(chain).contains("services.s65: it extends a chain of more than 64"))
        #expect(!problems(chain).contains("services.s64: it extends"))
    }

    @Test("a long chain of extends with an end costs no stack and is refused quickly")
    func longExtends() {
        var chain = "services:\n  s0: {command: [x]}\n"
        for number in 1...3_000 { chain += "  s\(number): {extends: s\(number - 1)}\n" }
        #expect(problems(chain).hasSuffix("more errors are not listed"))
    }
}
