import Testing

@testable import Orchestrator

@Suite("JSONValue", .timeLimit(.minutes(1)))
struct JSONValueTests {
    private func parse(_ text: String) throws(JSONFault) -> JSONValue {
        try JSONValue(parsing: Array(text.utf8))
    }

    @Test(
        "a text comes back as it was",
        arguments: [
            "null", "true", "-9223372036854775808", "9223372036854775807", "\"a\\\"\\\\\\n\"",
            "[]", "{}", #"{"z":1,"a":[1,"two",null,{"b":false}]}"#, "\"ünïcode ☃ 𝄞\"", "0.5",
        ])
    func roundTrips(_ text: String) throws {
        #expect(try parse(text).description == text)
    }

    @Test("escapes are read, zero bytes in strings too")
    func escapes() throws {
        #expect(try parse(#""A\u0000\ud834\udd1e""#) == .string("A\0𝄞"))
    }

    @Test(
        "CTL-38: what is no JSON, or has a key twice, is refused with a place",
        arguments: [
            "", " ", "{", "[1,]", "{\"a\":1,\"a\":2}", "01", "nul", "\"\u{01}\"", "1 2",
            "9223372036854775808", "1e999", "\"\\ud800\"",
        ])
    func refuses(_ text: String) {
        #expect(throws: JSONFault.self) { try parse(text) }
    }

    @Test("CTL-38: bytes that are no UTF-8 are refused")
    func refusesBytes() {
        #expect(throws: JSONFault.self) { try JSONValue(parsing: [0x22, 0xFF, 0xFE, 0x22]) }
        #expect(throws: JSONFault.self) { try JSONValue(parsing: [0]) }
    }

    @Test("CTL-38: containers nest 64 deep and no deeper")
    func depth() throws {
        let fits = String(repeating: "[", count: 64) + String(repeating: "]", count: 64)
        #expect(try parse(fits).description == fits)
        for count in [65, 2000, 100_000] {
            let text = String(repeating: "[", count: count) + String(repeating: "]", count: count)
            #expect(throws: JSONFault.self) { try parse(text) }
        }
    }

    @Test("members keep their order; a subscript replaces, adds and removes")
    func members() throws {
        var object = ["b": 1, "a": 2] as JSONObject
        object["b"] = 3
        object["c"] = "x"
        object["a"] = nil
        #expect(JSONValue.object(object).description == #"{"b":3,"c":"x"}"#)
        #expect(JSONValue.object(object)["c"]?.string == "x")
        #expect(JSONValue.null["c"] == nil)
    }
}
