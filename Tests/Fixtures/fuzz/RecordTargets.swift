import Stoic

@testable import Orchestrator

/// The output of a service, in one piece and in two.
struct LogTarget: FuzzTarget {
    static let name = "log"

    /// The first byte says where the pieces part, the second how long a line may be.
    func read(_ bytes: [UInt8]) {
        guard bytes.count > 2 else { return }
        let text = Array(bytes.dropFirst(2))
        let cut = Int(bytes[0]) * text.count / 255
        let whole = Self.lines([text[...]], limit: Int(bytes[1]))
        let parts = Self.lines([text[..<cut], text[cut...]], limit: Int(bytes[1]))
        promise(whole == parts, "where a read ends makes no difference")
        let ends = text.count { $0 == UInt8(ascii: "\n") }
        promise(whole.count { !$0.isUnfinished } == ends, "a newline ends a line")
        for line in whole {
            promise(!line.text.utf8.contains(UInt8(ascii: "\n")), "a line is one")
            let shown = Neutralizer.neutral(line.text)
            promise(
                shown.unicodeScalars.allSatisfy { $0 == "\t" || !Self.isControl($0) },
                "what is shown drives no terminal")
        }
    }

    private static func isControl(_ scalar: Unicode.Scalar) -> Bool {
        scalar.value < 0x20 || (0x7F...0x9F).contains(scalar.value)
    }

    private static func lines(_ pieces: [ArraySlice<UInt8>], limit: Int) -> [LogLine] {
        var assembler = LineAssembler(ServiceName("a"), nil, .combined, limit: limit)
        var lines: [LogLine] = []
        for piece in pieces { assembler.feed(Array(piece).span, wall: 0) { lines.append($0) } }
        assembler.finish { lines.append($0) }
        return lines
    }
}

/// What a killed engine may have left behind half written: a line of its events, an entry of its
/// launches.
struct RecordTarget: FuzzTarget {
    static let name = "record"

    func read(_ bytes: [UInt8]) {
        if let entry = LaunchRecord.Entry(line: bytes[...]) {
            promise(
                LaunchRecord.Entry(line: entry.line.dropLast()[...]) == entry,
                "an entry is read as written")
        }
        if let record = EventRecord(json: bytes) {
            promise(!record.name.isEmpty || record.service != "", "a record has a name")
        }
    }
}
