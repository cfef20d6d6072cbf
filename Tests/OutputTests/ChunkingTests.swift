import Manifest
import Stoic
import Testing

@testable import Orchestrator

@Suite("Chunking changes nothing", .timeLimit(.minutes(1)))
struct ChunkingTests {
    /// Bytes with many newlines, characters of every length and bad bytes.
    private func bytes(_ random: inout RandomSource) -> [UInt8] {
        var bytes: [UInt8] = []
        let pieces: [[UInt8]] = [
            [0x0A], [0x61], Array("é".utf8), Array("€".utf8), Array("😀".utf8), [0xFF],
            [0xE2, 0x82],
            [0x0D, 0x0A], [0x00], Array("word ".utf8),
        ]
        for _ in 0..<Int.random(in: 0...3000, using: &random) {
            bytes += pieces[Int.random(in: 0..<pieces.count, using: &random)]
        }
        return bytes
    }

    /// The lines as an independent, slow reading of the rules gives them.
    private func expected(_ bytes: [UInt8], limit: Int) -> [String] {
        var lines = bytes.split(separator: 0x0A, omittingEmptySubsequences: false)
        if lines.last?.isEmpty == true { lines.removeLast() }
        return lines.map { line in
            var kept = line.prefix(limit)
            if line.count > limit { kept = kept.dropLast(LenientUTF8.danglingLength(of: kept)) }
            return LenientUTF8.decode(kept)
        }
    }

    @Test(
        "OUT-24: any chunking of any bytes gives the same file and the same lines",
        arguments: 1...40)
    func anyChunking(seed: UInt64) throws {
        var random = RandomSource.seeded(seed)
        let all = bytes(&random)
        let web = try OneService {
            $0.maxBytes = UInt64.random(in: 4096...8192, using: &random)
            $0.keptFiles = 20
            $0.maxLineBytes = Int.random(in: 1...300, using: &random)
        }
        var pipe = try TestPipe()
        let capture = try PipeCapture(
            web.loop, descriptor: pipe.takeReadEnd(), log: web.log, incarnation: Incarnation(1),
            stream: .combined)
        var live: [String] = []
        web.store.onLine = { live.append($0.text) }
        var rest = all[...]
        while !rest.isEmpty {
            let chunk = rest.prefix(Int.random(in: 1...700, using: &random))
            rest = rest.dropFirst(chunk.count)
            pipe.write(Array(chunk))
            capture.drain(limit: 1 << 20)
            if Bool.random(using: &random) { web.time.advance(.milliseconds(1)) }
        }
        capture.finish()
        let lines = expected(all, limit: web.log.definition.maxLineBytes)
        #expect(try web.scratch.wholeLog(web.path) == all, "seed \(seed)")
        #expect(live == lines, "seed \(seed)")
        #expect(try web.lines().map(\.text) == lines, "seed \(seed)")
    }
}
