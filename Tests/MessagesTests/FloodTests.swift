import CLifecycle
import EventLoop
import Testing

@testable import Orchestrator

@Suite("floods of messages", .timeLimit(.minutes(1)))
struct FloodTests {
    private func send(_ text: String, to path: String) {
        #expect(unsafe clc_send_to(path, text, text.utf8.count, -1, 1000) == 1)
    }

    @Test("RDY-35: of messages that leave a record only so many are heard, and READY always is")
    func loud() throws {
        let bench = try Bench()
        let socket = try bench.socket()
        for _ in 0..<(3 * MessageIntake.mostLoud) {
            send("RELOADING=1\nREADY=1", to: socket.path)
            socket.drain()
        }
        let reloads = bench.messages.filter { $0 == .reloading }.count
        let readies = bench.messages.filter { $0 == .ready(values: [:]) }.count
        #expect(reloads == MessageIntake.mostLoud)
        #expect(readies == 3 * MessageIntake.mostLoud)
        #expect(bench.refusals.count <= RefusalGate.most)
        #expect(bench.refusals.first?.contains("more than 100 within 10 s") == true)
        socket.close()
        bench.close()
    }

    @Test("RDY-36: a long status is cut at 4 KiB, between characters")
    func status() throws {
        let bench = try Bench()
        let socket = try bench.socket()
        send("STATUS=" + String(repeating: "€", count: 20_000), to: socket.path)
        socket.drain()
        #expect(bench.messages == [.status(String(repeating: "€", count: 1365))])
        socket.close()
        bench.close()
    }
}
