internal import Manifest
internal import Stoic

/// The output of one service: where its captures bring bytes, on to the disk, to memory and to
/// whoever looks on. Made by `OutputStore`, which bounds what all of them cost together.
final class ServiceLog {
    /// Whose output.
    let service: ServiceName
    /// What the config says of it.
    private(set) var definition: OutputDefinition
    /// Bytes that came from the service, written or not.
    private(set) var received: UInt64 = 0
    /// Bytes that could not be written.
    private(set) var dropped: UInt64 = 0
    /// The latest output in memory.
    var recent = RecentOutput()
    /// When bytes last came, on the monotonic clock in nanoseconds.
    private(set) var lastReceived: Int64 = 0

    /// Made with the first byte: a service that never wrote costs none.
    private var file: LogFile?
    /// The store it belongs to.
    var owner: OutputStore { store }
    private unowned let store: OutputStore
    private var trouble = Trouble.none
    private var unreported: UInt64 = 0
    private var lossReportAfter = Int64.min
    private var rotationFailures: UInt64 = 0
    private var quietUntil: [Topic: Int64] = [:]

    /// Nanoseconds between two reports of the same trouble of a service.
    static let reportAfter: Int64 = 10_000_000_000

    private enum Trouble {
        case none
        /// Bytes are being lost: so many since it began.
        indirect case losing(sum: UInt64, SystemError)
    }

    private enum Topic { case reopened, rotation, emptied, index }

    init(
        _ service: ServiceName, _ definition: OutputDefinition, of store: OutputStore
    ) {
        self.service = service
        self.definition = definition
        self.store = store
    }

    /// Its log file, as named. Put together when asked for: hardly anybody asks.
    var path: String { definition.file ?? store.defaultPath(of: service) }

    /// Whether it holds descriptors.
    var isOpen: Bool { file?.isOpen ?? false }

    /// Takes over a changed config; what is on disk stays where it is.
    func update(_ definition: OutputDefinition) {
        let isSame = definition.file == self.definition.file
        self.definition = definition
        if isSame {
            file?.maxBytes = definition.maxBytes
            file?.keptFiles = definition.keptFiles
        } else {
            file = nil
        }
    }

    private func openFile() -> LogFile {
        if let file { return file }
        let made = LogFile(
            path, maxBytes: definition.maxBytes, keptFiles: definition.keptFiles,
            report: { [unowned self] in self.noticed($0) })
        file = made
        return made
    }

    /// Takes what was read from a pipe of the service.
    /// - Parameter midLine: the first byte does not start a line of this stream.
    func append(_ bytes: Span<UInt8>, _ mark: OutputMark, midLine: Bool) {
        guard bytes.count > 0 else { return }
        received += UInt64(bytes.count)
        lastReceived = mark.stamp.monotonic
        let file = openFile()
        if !file.isOpen { store.willOpen(self) }
        let lost = file.append(bytes, mark)
        let costBefore = recent.cost
        recent.append(bytes, mark, midLine: midLine)
        store.grew(self, from: costBefore)
        account(for: UInt64(lost), at: mark.stamp.monotonic)
    }

    /// A stream of the service ended.
    func end(_ mark: OutputMark) { file?.end(mark) }

    /// Gives the descriptors back until there is output again.
    func release() { file?.release() }

    /// Reports losses that were held back, whatever the rate.
    func flush() {
        guard unreported > 0, case .losing(_, let error) = trouble else { return }
        send(.dropped(bytes: unreported, total: dropped, error))
        unreported = 0
    }

    /// Passes on what a capture of this service noticed.
    func send(_ what: OutputReport.What) {
        store.report(OutputReport(service: service, path: path, what: what))
    }

    /// Counts what was lost. A trouble that comes and goes within `reportAfter` is not reported
    /// each time: what it lost is part of the next report.
    private func account(for lost: UInt64, at now: Int64) {
        dropped += lost
        unreported += lost
        switch trouble {
        case .none:
            guard lost > 0, let error = file?.trouble else { return }
            trouble = .losing(sum: lost, error)
        case .losing(let before, _):
            let sum = before + lost
            guard let error = file?.trouble else {
                trouble = .none
                if unreported >= sum { return }
                unreported = 0
                return send(.resumed(lost: sum))
            }
            trouble = .losing(sum: sum, error)
        }
        guard now >= lossReportAfter else { return }
        lossReportAfter = now + Self.reportAfter
        flush()
    }

    private func noticed(_ event: LogFile.Event) {
        switch event {
        case .reopened: limited(.reopened, .reopened)
        case .rotationFailed(let error):
            rotationFailures += 1
            limited(.rotation, .rotationFailed(error, failures: rotationFailures))
        case .emptied(let bytes):
            dropped += bytes
            limited(.emptied, .emptied(bytes: bytes))
        case .indexFailed(let error): limited(.index, .indexFailed(error))
        }
    }

    /// Reports at most once per `reportAfter` and topic.
    private func limited(_ topic: Topic, _ what: OutputReport.What) {
        if let until = quietUntil[topic], lastReceived < until { return }
        quietUntil[topic] = lastReceived + Self.reportAfter
        send(what)
    }
}
