import Manifest
import Stoic
import Testing

@Suite("Durations, sizes and signals as text", .timeLimit(.minutes(1)))
struct ValueTextTests {
    @Test(
        "a duration is",
        arguments: [
            ("0s", Duration.zero), ("500ms", .milliseconds(500)), ("1m30s", .seconds(90)),
            ("2h", .seconds(7_200)), ("1.5s", .milliseconds(1_500)), ("1d", .seconds(86_400)),
            ("7us", .microseconds(7)), ("9ns", .nanoseconds(9)), ("0.000000001s", .nanoseconds(1)),
            ("1.50h", .seconds(5_400)), ("36500d", .seconds(3_153_600_000)),
            ("1h0m0s", .seconds(3_600)), ("007s", .seconds(7)),
        ])
    func durations(_ text: String, _ expected: Duration) throws {
        #expect(try parseDuration(text) == expected)
    }

    @Test(
        "CFG-5: a time-out that is none is refused with its reason",
        arguments: [
            ("", "a duration is missing (write it like 500ms, 1m30s or 2h)"),
            ("30", "\"30\" has no unit (write 30s or 30ms)"),
            ("1m30", "\"1m30\" has no unit (write 1m30s or 1m30ms)"),
            ("-1", "a duration cannot be negative: \"-1\""),
            ("-5s", "a duration cannot be negative: \"-5s\""),
            ("abc", "\"abc\" is not a duration (write it like 500ms, 1m30s or 2h)"),
            ("1e300", "\"1e300\" is not a duration (write it like 500ms, 1m30s or 2h)"),
            ("1 s", "\"1 s\" is not a duration (write it like 500ms, 1m30s or 2h)"),
            ("30s1m", "\"30s1m\" is not a duration (write it like 500ms, 1m30s or 2h)"),
            ("1s1s", "\"1s1s\" is not a duration (write it like 500ms, 1m30s or 2h)"),
            (".5s", "\".5s\" is not a duration (write it like 500ms, 1m30s or 2h)"),
            ("+1s", "\"+1s\" is not a duration (write it like 500ms, 1m30s or 2h)"),
            ("inf", "\"inf\" is not a duration (write it like 500ms, 1m30s or 2h)"),
            ("0.1ns", "\"0.1ns\" is finer than 1ns, the shortest duration there is"),
            (
                "9223372036854775807s",
                "\"9223372036854775807s\" is longer than a century, the longest duration there is"
            ),
            ("36526d", "\"36526d\" is longer than a century, the longest duration there is"),
            (
                "99999999999999999999999s",
                "\"99999999999999999999999s\" is longer than a century, "
                    + "the longest duration there is"
            ),
        ])
    func refusedDurations(_ text: String, _ message: String) {
        #expect(reason { () throws(ValueError) in _ = try parseDuration(text) } == message)
    }

    @Test(
        "a duration is written",
        arguments: [
            (Duration.zero, "0s"), (.milliseconds(1_500), "1s500ms"), (.seconds(5_400), "1h30m"),
            (.seconds(129_600), "36h"), (.nanoseconds(1_001), "1us1ns"), (.seconds(-90), "-1m30s"),
        ])
    func writtenDurations(_ duration: Duration, _ text: String) {
        #expect(durationText(duration) == text)
    }

    @Test("what is written of a duration reads back, whatever it is")
    func durationsRoundTrip() throws {
        var random = RandomSource.seeded(5)
        for _ in 0..<5_000 {
            let magnitude = UInt64.random(in: 0...62, using: &random)
            let limit = UInt64(Duration.century / .nanoseconds(1))
            let nanoseconds = min(limit, random.next() >> (63 - magnitude))
            let duration = Duration.nanoseconds(Int64(nanoseconds))
            let text = durationText(duration)
            #expect(try parseDuration(text) == duration, "\(nanoseconds) ns as \(text)")
        }
    }

    @Test(
        "a size is",
        arguments: [
            ("0B", UInt64(0)), ("512B", 512), ("10MiB", 10_485_760), ("10MB", 10_000_000),
            ("1.5KiB", 1_536), ("1kB", 1_000), ("1KB", 1_000), ("16777215TiB", 16_777_215 << 40),
        ])
    func sizes(_ text: String, _ bytes: UInt64) throws {
        #expect(try parseSize(text) == bytes)
    }

    @Test(
        "a size that is none is refused with its reason",
        arguments: [
            ("", "a size is missing (write it like 10MiB, 10MB or 512B)"),
            ("10", "\"10\" has no unit (write 10B or 10MiB)"),
            ("-1B", "a size cannot be negative: \"-1B\""),
            ("10M", "\"10M\" is not a size (write it like 10MiB, 10MB or 512B)"),
            ("10mib", "\"10mib\" is not a size (write it like 10MiB, 10MB or 512B)"),
            ("1MiB1B", "\"1MiB1B\" is not a size (write it like 10MiB, 10MB or 512B)"),
            ("0.1B", "\"0.1B\" is not a whole number of bytes"),
            ("16777216TiB", "\"16777216TiB\" is more than 64 bits can count"),
        ])
    func refusedSizes(_ text: String, _ message: String) {
        #expect(reason { () throws(ValueError) in _ = try parseSize(text) } == message)
    }

    @Test(
        "a size is written",
        arguments: [(UInt64(0), "0B"), (10 << 20, "10MiB"), (1_000, "1000B"), (1 << 40, "1TiB")])
    func writtenSizes(_ bytes: UInt64, _ text: String) { #expect(sizeText(bytes) == text) }

    @Test(
        "a signal is",
        arguments: [
            ("INT", Int32(2)), ("SIGINT", 2), ("sigterm", 15), ("9", 9), ("RTMIN", 34),
            ("SIGRTMIN+3", 37), ("RTMAX", 64),
        ])
    func signals(_ text: String, _ number: Int32) throws {
        #expect(try parseSignal(text) == number)
    }

    @Test(
        "a signal that is none is refused with its reason",
        arguments: [
            ("0", "there is no signal 0 (1 to 31 or 34 to 64)"),
            ("33", "there is no signal 33 (1 to 31 or 34 to 64)"),
            ("65", "there is no signal 65 (1 to 31 or 34 to 64)"),
            ("TREM", "there is no signal \"TREM\" (did you mean \"TERM\"?)"),
            ("RTMIN+31", "there is no signal \"RTMIN+31\" (write it like TERM)"),
            ("", "there is no signal \"\" (write it like TERM)"),
        ])
    func refusedSignals(_ text: String, _ message: String) {
        #expect(reason { () throws(ValueError) in _ = try parseSignal(text) } == message)
    }

    @Test("a signal's name reads back")
    func signalNames() throws {
        for number in Int32(1)...64 where number != 32 && number != 33 {
            #expect(try parseSignal(signalName(number)) == number)
        }
    }

    private func reason(_ body: () throws(ValueError) -> Void) -> String? {
        do throws(ValueError) { try body() } catch { return error.description }
        return nil
    }
}
