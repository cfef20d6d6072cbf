import EventLoop
import Glibc
import Manifest
import Stoic

/// One run of a command on behalf of a service: a probe, or a stop command. A small incarnation of
/// its own, with a tree, a token and a bound. It never outlives its bound, and ends with its
/// service.
final class CommandRun {
    /// Bytes of output kept for the message.
    static let tailLength = 4 << 10

    private enum State {
        case launching
        case running(ProcessTree)
        /// Its tree is being killed: because its time is up, or because nobody wants it any more.
        case killed(ProcessTree, outcome: String)
        case over
    }

    private var state = State.launching
    private var status: ExitStatus?
    private var tail: [UInt8] = []
    private var watch: Watch?
    private var pipe: CInt
    private var limit: TimerTable.Token?
    private var completion: ((ExitStatus?, String) -> Void)?
    private let timers: TimerTable
    private let onOver: () -> Void

    /// - Parameters:
    ///   - completion: Called once, unless cancelled: the status, or `nil` and why there is none.
    ///   - onOver: Called once, when nothing of it is left.
    init(
        pipe: CInt, engine: Engine, timeout: Duration,
        completion: @escaping (ExitStatus?, String) -> Void, onOver: @escaping () -> Void
    ) throws(UVError) {
        self.pipe = pipe
        timers = engine.probeTimers
        self.completion = completion
        self.onOver = onOver
        watch = try Watch(engine.loop, descriptor: pipe, interest: .readable) { [weak self] _ in
            self?.read()
        }
        limit = timers.after(timeout) { [weak self] in
            self?.end("it took longer than \(timeout.words)")
        }
    }

    func started(_ tree: ProcessTree) {
        tree.onMainExit = { [weak self] status in
            self?.read()
            self?.status = status
        }
        tree.onEmpty = { [weak self] in self?.finished() }
        switch state {
        case .launching: state = .running(tree)
        case .killed, .running, .over: break
        }
        if completion == nil { end("it was cancelled") }
    }

    func failed(_ failure: LaunchFailure) { finish(nil, failure.words) }

    /// Nobody wants the outcome any more: everything of it is killed.
    func cancel() {
        completion = nil
        end("it was cancelled")
    }

    private func end(_ outcome: String) {
        guard case .running(let tree) = state else { return }
        state = .killed(tree, outcome: outcome)
        tree.kill()
    }

    private func finished() {
        read()
        switch state {
        case .running: finish(status ?? .unknown, String(decoding: tail, as: UTF8.self))
        case .killed(_, let outcome): finish(nil, outcome)
        case .launching, .over: break
        }
    }

    private func finish(_ status: ExitStatus?, _ words: String) {
        switch state {
        case .running(let tree), .killed(let tree, _): tree.close()
        case .launching, .over: break
        }
        state = .over
        timers.cancel(limit)
        watch?.close()
        watch = nil
        if pipe >= 0 { Glibc.close(pipe) }
        pipe = -1
        let completion = completion
        self.completion = nil
        completion?(status, words)
        onOver()
    }

    /// Keeps the end of what it writes. Its main process may leave the pipe to others: the end of
    /// the stream is not waited for.
    private func read() {
        var buffer = [UInt8](repeating: 0, count: Self.tailLength)
        for _ in 0..<16 where pipe >= 0 {
            let count = unsafe Glibc.read(pipe, &buffer, buffer.count)
            guard count > 0 else {
                if count == 0 {
                    watch?.close()
                    watch = nil
                }
                return
            }
            tail = (tail + buffer[..<count]).suffix(Self.tailLength)
        }
    }
}
