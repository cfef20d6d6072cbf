internal import Stoic

/// One record of the index beside a log. The bytes of the log from `offset` on, up to the offset
/// of the next record, came from this stream of this incarnation at this time.
///
/// On disk: 40 bytes, little-endian: `offset` u64, `wall` i64, `monotonic` i64, `incarnation` u64
/// (0: unknown), `stream` u8, `kind` u8, two zero bytes, `count` u32. The file begins with a header
/// of the same length: the eight bytes `orchlog1`, then zeros.
///
/// A record is written before the bytes it speaks of, so bytes are never credited to somebody
/// else, whenever the engine dies.
struct IndexRecord: Hashable {
    /// Where in the log it applies from.
    var offset: UInt64
    /// When.
    var stamp: OutputStamp
    /// Who wrote; `nil` when unknown.
    var incarnation: Incarnation?
    /// Where to.
    var stream: OutputStream
    /// What it says.
    var kind: Kind
    /// Of `lost`: how many bytes, at most 4 GiB; else 0.
    var count: UInt32 = 0

    enum Kind: UInt8 {
        /// Bytes follow.
        case bytes = 1
        /// This stream of this incarnation ended here.
        case end = 2
        /// Bytes were lost here, of any stream.
        case lost = 3
    }

    /// The length of a record and of the header.
    static let size = 40
    /// What an index begins with.
    static let header: [UInt8] =
        Array("orchlog1".utf8) + [UInt8](repeating: 0, count: IndexRecord.size - 8)

    /// The record as it is on disk.
    var encoded: [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(Self.size)
        append(offset, to: &bytes)
        append(UInt64(bitPattern: stamp.wall), to: &bytes)
        append(UInt64(bitPattern: stamp.monotonic), to: &bytes)
        append(incarnation?.number ?? 0, to: &bytes)
        bytes.append(contentsOf: [stream.rawValue, kind.rawValue, 0, 0])
        append(count, to: &bytes)
        return bytes
    }

    init(
        _ kind: Kind, at offset: UInt64, _ stamp: OutputStamp, _ incarnation: Incarnation?,
        _ stream: OutputStream
    ) {
        self.offset = offset
        self.stamp = stamp
        self.incarnation = incarnation
        self.stream = stream
        self.kind = kind
    }

    /// Reads a record; `nil` for 40 bytes that are none.
    init?(_ bytes: ArraySlice<UInt8>) {
        guard bytes.count == Self.size else { return nil }
        let start = bytes.startIndex
        guard let stream = OutputStream(rawValue: bytes[start + 32]),
            let kind = Kind(rawValue: bytes[start + 33])
        else { return nil }
        let number = { (place: Int) in
            bytes[(start + place)..<(start + place + 8)].reversed()
                .reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        }
        let owner = number(24)
        self.init(
            kind, at: number(0),
            OutputStamp(
                wall: Int64(bitPattern: number(8)), monotonic: Int64(bitPattern: number(16))),
            owner == 0 ? nil : Incarnation(owner), stream)
        count = UInt32(number(32) >> 32)
    }
}

private func append(_ number: some FixedWidthInteger, to bytes: inout [UInt8]) {
    for shift in stride(from: 0, to: number.bitWidth, by: 8) {
        bytes.append(UInt8(truncatingIfNeeded: number >> shift))
    }
}
