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
        /// Its time was up, or nobody wanted it any more, before its launch was answered.
        case doomed(outcome: String)
        case running(ProcessTree)
        /// Its tree is being killed, for one of the same two reasons.
        case killed(ProcessTree, outcome: String)
        case over
    }

    /// Whose command it is.
    let service: ServiceName
    /// Its launch, to call it off by.
    var ticket: Spawner.Ticket?
    private var state = State.launching
    private var status: ExitStatus?
    private var tail: [UInt8] = []
    private var watch: Watch?
    private var pipe: CInt
    private var limit: TimerTable.Token?
    private var completion: ((CommandOutcome) -> Void)?
    private unowned let engine: Engine
    private let onOver: () -> Void

    /// - Parameters:
    ///   - pipe: Our end of its output; the run's own from here on, also when this throws.
    ///   - completion: Called once, unless cancelled, when nothing of it is left.
    ///   - onOver: Called once, when nothing of it is left.
    init(
        of service: ServiceName, pipe: CInt, engine: Engine, timeout: Duration,
        completion: @escaping (CommandOutcome) -> Void, onOver: @escaping () -> Void
    ) throws(UVError) {
        self.service = service
        self.pipe = pipe
        self.engine = engine
        self.completion = completion
        self.onOver = onOver
        do throws(UVError) {
            watch = try Watch(engine.loop, descriptor: pipe, interest: .readable) {
                [weak self] _ in
                self?.read()
            }
        } catch {
            Glibc.close(pipe)
            throw error
        }
        limit = engine.probeTimers.after(timeout) { [weak self] in
            self?.end("it took longer than \(timeout.words)")
        }
    }

    /// Everything of it, while it runs.
    var tree: ProcessTree? {
        switch state {
        case .running(let tree), .killed(let tree, _): tree
        case .launching, .doomed, .over: nil
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
        case .doomed(let outcome):
            state = .killed(tree, outcome: outcome)
            tree.kill()
        case .killed, .running, .over: break
        }
    }

    func failed(_ failure: LaunchFailure) {
        if case .doomed(let outcome) = state { return finish(.tookTooLong(outcome)) }
        finish(.notRun(failure.words))
    }

    /// Nobody wants the outcome any more: everything of it is killed.
    func cancel() {
        completion = nil
        end("it was cancelled")
    }

    private func end(_ outcome: String) {
        switch state {
        case .launching:
            state = .doomed(outcome: outcome)
            if let ticket { engine.spawner.cancel(ticket) }
        case .running(let tree):
            state = .killed(tree, outcome: outcome)
            tree.kill()
        case .doomed, .killed, .over: break
        }
    }

    private func finished() {
        read()
        switch state {
        case .running:
            finish(.ended(status ?? .unknown, tail: String(decoding: tail, as: UTF8.self)))
        case .killed(_, let outcome):
            let leftovers = status.map { "it \($0.words) and left processes running; " } ?? ""
            finish(.tookTooLong(leftovers + outcome))
        case .launching, .doomed, .over: break
        }
    }

    private func finish(_ outcome: CommandOutcome) {
        tree?.close()
        state = .over
        engine.probeTimers.cancel(limit)
        watch?.close()
        watch = nil
        if pipe >= 0 { Glibc.close(pipe) }
        pipe = -1
        let completion = completion
        self.completion = nil
        completion?(outcome)
        onOver()
    }

    /// Keeps the end of what it writes. Its main process may leave the pipe to others: the end of
    /// the stream is not waited for.
    private func read() {
        var buffer = [UInt8](repeating: 0, count: Self.tailLength)
        for _ in 0..<16 where pipe >= 0 {
            // SAFETY: the call is told how much room the array has.
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
