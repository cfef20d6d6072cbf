import CLifecycle
import Testing

@testable import Orchestrator

/// What the reader makes of a message.
private func findings(_ bytes: [UInt8]) -> [MessageReader.Finding] {
    var reader = MessageReader { $0 == 4711 }
    return unsafe bytes.withUnsafeBytes { unsafe reader.read($0) }
}

private func findings(_ text: String) -> [MessageReader.Finding] { findings(Array(text.utf8)) }

@Suite("the line format", .timeLimit(.minutes(1)))
struct LineFormatTests {
    private static let ready = MessageReader.Finding.message(.ready(values: [:]))

    @Test(
        "RDY-1: only a line that is exactly READY=1 is ready",
        arguments: [
            "READY=1", "READY=1\n", "\nREADY=1\n\n", "X_A=b\nREADY=1", "READY=1\0",
            "READY=1\nREADY=1",
        ])
    func ready(_ text: String) { #expect(findings(text) == [Self.ready]) }

    @Test(
        "RDY-1: what looks like READY=1 is not",
        arguments: [
            "READY=11", "ready=1", "X READY=1", " READY=1", "READY=1 ", "READY=1\r\n", "READY=0",
            "READY", "READY=", "=1", "", "\0", "READY=1\0\0", "READY\0=1", "XREADY=1", "READY==1",
        ])
    func notReady(_ text: String) {
        for finding in findings(text) {
            if case .message(let message) = finding { Issue.record("\(message) of \(text)") }
        }
    }

    @Test("RDY-2: any bytes are safe, and the next line still counts")
    func malformed() {
        let noise: [[UInt8]] = [
            [], [0], [0xFF, 0xFE], [UInt8](repeating: 0x41, count: 65536),
            [UInt8](repeating: 0, count: 65536), Array("STATUS=\u{20AC}".utf8.dropLast()),
            [0xC0, 0xAF], [0xED, 0xA0, 0x80], [0xF4, 0x90, 0x80, 0x80], [0xE2, 0x82],
        ]
        for bytes in noise {
            let status = Array("STATUS=".utf8) + bytes
            for message in [bytes, status] {
                let found = findings(message + Array("\nREADY=1".utf8))
                #expect(found.last == Self.ready)
            }
        }
    }

    @Test("RDY-3: numbers are digits within their range, or refused by name")
    func numbers() {
        let good: [(String, ServiceMessage)] = [
            ("WATCHDOG_USEC=1500000", .watchdogInterval(.milliseconds(1500))),
            ("WATCHDOG_USEC=0", .watchdogInterval(nil)),
            ("WATCHDOG_USEC=18446744073709551615", .watchdogInterval(nil)),
            ("EXTEND_TIMEOUT_USEC=18446744073709551614", .extendTimeout(.seconds(3_155_760_000))),
            ("ERRNO=2", .errno(2)),
        ]
        for (text, message) in good {
            guard case .message(let found)? = findings(text).first else {
                Issue.record("nothing of \(text)")
                continue
            }
            switch (found, message) {
            case (.extendTimeout(let long), .extendTimeout(let least)): #expect(long >= least)
            default: #expect(found == message)
            }
        }
        for text in [
            "WATCHDOG_USEC=-1", "WATCHDOG_USEC=111111111111111111111111111111", "WATCHDOG_USEC=",
            "WATCHDOG_USEC=18446744073709551616", "EXTEND_TIMEOUT_USEC=1s", "ERRNO=2147483648",
            "WATCHDOG_USEC=+5", "WATCHDOG_USEC= 5", "WATCHDOG=2",
        ] {
            let key = text.prefix { $0 != "=" }
            guard case .refusal(let reason)? = findings(text).first else {
                Issue.record("\(text) was not refused")
                continue
            }
            #expect(reason.hasPrefix(key))
        }
    }

    @Test("RDY-4: more than 256 lines of a message are refused, the first 256 count")
    func lines() {
        let text = String(repeating: "WATCHDOG=1\n", count: 300)
        let found = findings(text)
        #expect(found.count == 257)
        #expect(found.dropLast().allSatisfy { $0 == .message(.watchdogPing) })
        #expect(found.last == .refusal("a message of more than 256 lines"))
    }

    @Test("a status cannot drive a terminal")
    func controlCharacters() {
        #expect(findings("STATUS=a\u{1B}[2Jb\u{9B}c\tü") == [.message(.status("a [2Jb c ü"))])
    }

    @Test("what is written is read back, cut between characters and without line breaks")
    func writing() {
        var buffer = [CChar](repeating: 0, count: 16)
        let length = unsafe clc_write_text(&buffer, 16, 0, "STATUS", "a\nb€€€")
        let bytes = buffer.prefix(length).map { UInt8(bitPattern: $0) }
        #expect(bytes == Array("STATUS=a b€\n".utf8))
        #expect(unsafe clc_write_text(&buffer, 16, 12, "STATUS", "x") == 12)
        #expect(unsafe clc_write_number(&buffer, 16, 0, "N", .max) == 0)
    }
}

@Suite("the meaning of lines", .timeLimit(.minutes(1)))
struct MessageReaderTests {
    @Test("RDY-5: values sent before, with or in parts reach READY; others wait for the next one")
    func values() {
        var reader = MessageReader { _ in false }
        func read(_ text: String) -> [MessageReader.Finding] {
            unsafe Array(text.utf8).withUnsafeBytes { unsafe reader.read($0) }
        }
        #expect(read("VALUE_url=a") == [])
        #expect(
            read("READY=1\nVALUE_port=1")
                == [.message(.ready(values: ["url": "a", "port": "1"]))])
        #expect(read("VALUE_url=b") == [])
        #expect(read("READY=1") == [.message(.ready(values: ["url": "b", "port": "1"]))])
    }

    @Test("RDY-6: at most 64 values of at most 4 KiB are kept, and the rest refused by name")
    func valueCaps() {
        var reader = MessageReader { _ in false }
        func read(_ text: String) -> [MessageReader.Finding] {
            unsafe Array(text.utf8).withUnsafeBytes { unsafe reader.read($0) }
        }
        let long = String(repeating: "x", count: 4097)
        #expect(read("VALUE_a=\(long)") == [.refusal("VALUE_a: 4097 bytes, the limit is 4096")])
        for index in 0..<64 { #expect(read("VALUE_v\(index)=1") == []) }
        #expect(read("VALUE_more=1") == [.refusal("VALUE_more: more than 64 values")])
        #expect(read("VALUE_v3=2") == [])
        let name = String(repeating: "n", count: 65)
        guard case .refusal? = read("VALUE_\(name)=1").first else {
            Issue.record("a long name was taken")
            return
        }
    }

    @Test(
        "RDY-7: MAINPID of anything but a living process of the service is refused",
        arguments: ["1", "0", "-1", "99999999999", "12x", "", "2147483647", "18446744073709551615"])
    func wrongMainProcess(_ number: String) {
        // Even one that vouches for everybody does not make these a main process.
        var reader = MessageReader { _ in true }
        let found = unsafe Array("MAINPID=\(number)".utf8).withUnsafeBytes {
            unsafe reader.read($0)
        }
        guard case .refusal(let reason)? = found.first, found.count == 1 else {
            Issue.record("MAINPID=\(number) came to \(found)")
            return
        }
        #expect(reason.hasPrefix("MAINPID"))
    }

    @Test("RDY-8: a flood of refusals is reported five times in ten seconds, then counted")
    func refusalGate() {
        var gate = RefusalGate()
        let reports = (0..<100).compactMap { gate.admit(at: .milliseconds($0)) }
        #expect(reports == [0, 0, 0, 0, 0])
        #expect(gate.admit(at: .seconds(11)) == 95)
        #expect(gate.takeSuppressed() == 0)
    }
}
