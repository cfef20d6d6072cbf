import Testing

@testable import Orchestrator

@Suite("Bodies of requests", .timeLimit(.minutes(1)))
struct RequestFormTests {
    @Test(
        "CTL-46: a body that would mean something else than its author meant is refused",
        arguments: [
            ("down", "[]", "the body has to be an object"),
            ("down", "\"db\"", "the body has to be an object"),
            ("down", "{\"names\":\"db\"}", "\"names\" has to be a list of names"),
            ("down", "{\"names\":[1]}", "\"names\" has to be a list of names"),
            ("stop", "{\"names\":[\"db\",null]}", "\"names\" has to be a list of names"),
            (
                "down", "{\"name\":[\"db\"]}",
                "there is no \"name\" in the body of down: it may have \"names\", \"now\", "
                    + "\"wait\", \"timeout\""
            ),
            ("down", "{\"now\":\"yes\"}", "\"now\" has to be true or false"),
            (
                "up", "{\"timeout\":\"5s\"}",
                "\"timeout\" has to be a number of seconds, not negative"
            ),
            ("up", "{\"timeout\":-1}", "\"timeout\" has to be a number of seconds, not negative"),
            ("plan", "{\"names\":[]}", "there is no \"names\" in the body of plan"),
            (
                "signal", "{\"signal\":true}",
                "\"signal\" has to be the name or the number of a signal"
            ),
        ])
    func refused(verb: String, body: String, expected: String) throws {
        let value = try JSONValue(parsing: Array(body.utf8))
        #expect(RequestForm.problem(of: value, for: verb) == expected)
    }

    @Test("a body that is understood, or none, is taken")
    func taken() throws {
        for (verb, body) in [
            ("down", "{}"), ("down", "{\"names\":[\"db\"],\"now\":true,\"timeout\":1.5}"),
            ("signal", "{\"name\":\"db\",\"signal\":1,\"to\":\"tree\"}"),
            ("wait", "{\"names\":[\"a\"],\"for\":\"ready\",\"timeout\":0}"), ("plan", "{}"),
        ] {
            let value = try JSONValue(parsing: Array(body.utf8))
            #expect(RequestForm.problem(of: value, for: verb) == nil)
        }
        #expect(RequestForm.problem(of: nil, for: "down") == nil)
    }
}
