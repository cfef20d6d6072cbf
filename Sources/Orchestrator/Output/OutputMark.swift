internal import Stoic

/// Whose bytes they are: what one record of the index says about a read.
struct OutputMark: Hashable {
    var stamp: OutputStamp
    var incarnation: Incarnation
    var stream: OutputStream
}

extension IndexRecord {
    init(_ kind: Kind, at offset: UInt64, _ mark: OutputMark) {
        self.init(kind, at: offset, mark.stamp, mark.incarnation, mark.stream)
    }
}
