import Glibc
import Manifest
import Stoic

/// The control API: requests to commands and answers. No rule of its own.
extension Engine: ControlHandler {
    /// Answers a request of the control API; see `docs/reference/control-api.md`.
    public func handle(_ request: ControlRequest, _ exchange: ControlExchange) {
        guard request.path.first == "v1" else {
            return exchange.fail(404, code: "notFound", message: "there is only /v1")
        }
        let rest = Array(request.path.dropFirst())
        if request.method == "POST", let verb = rest.first, rest.count == 1,
            let problem = RequestForm.problem(of: request.body, for: verb)
        {
            return exchange.fail(400, code: "badBody", message: problem)
        }
        switch (request.method, rest.first ?? "", rest.count) {
        case ("GET", "version", 1): exchange.respond(200, versionView)
        case ("GET", "status", 1): exchange.respond(200, statusView)
        case ("GET", "services", 2): answerService(rest[1], exchange)
        case ("GET", "events", 1): streamEvents(request, exchange)
        case ("GET", "logs", 1): streamLogs(request, exchange)
        case ("POST", "up", 1), ("POST", "start", 1): start(request, exchange)
        case ("POST", "stop", 1): stop(request, exchange, dropsWish: false)
        case ("POST", "down", 1): down(request, exchange)
        case ("POST", "restart", 1): restart(request, exchange)
        case ("POST", "signal", 1): signal(request, exchange)
        case ("POST", "reload", 1): reload(request, exchange)
        case ("POST", "plan", 1): plan(exchange)
        case ("POST", "wait", 1): wait(request, exchange)
        default:
            let place = "\(request.method) /\(request.path.joined(separator: "/"))"
            exchange.fail(404, code: "notFound", message: "there is no \(place)")
        }
    }

    var versionView: JSONValue {
        .object([
            "version": .string(orchestratorVersion),
            "pid": .integer(Int64(getOwnPID())),
            "features": .object(
                JSONObject(
                    spawner.features.named.map { .init(key: $0.name, value: .bool($0.value)) })),
        ])
    }

    private func answerService(_ name: String, _ exchange: ControlExchange) {
        guard let id = machine.service(named: ServiceName(name)) else {
            return exchange.fail(
                404, code: "unknownService", message: "no service \"\(name)\"")
        }
        exchange.respond(200, serviceView(id))
    }

    // MARK: Verbs

    private func start(_ request: ControlRequest, _ exchange: ControlExchange) {
        guard let ids = services(request, exchange) else { return }
        let verb: Command.Verb = ids.isEmpty ? .up : .start(ids)
        command(verb, request, exchange) { _ in
            { $0.awaited(ids.isEmpty ? $0.wantedServices : ids, "ready") { $0.isThere } }
        }
    }

    private func stop(
        _ request: ControlRequest, _ exchange: ControlExchange, dropsWish: Bool
    ) {
        guard let ids = services(request, exchange), !ids.isEmpty else {
            return exchange.fail(400, code: "noNames", message: "name at least one service")
        }
        command(dropsWish ? .down(ids) : .stop(ids), request, exchange) { [weak self] decisions in
            guard let self else { return { _ in nil } }
            let targets = stopTargets(ids, decisions)
            let words = stoppedWords(ids, targets)
            return { $0.stopLine(targets, words) }
        }
    }

    private func down(_ request: ControlRequest, _ exchange: ControlExchange) {
        guard request.body?["names"]?.array?.isEmpty ?? true else {
            return stop(request, exchange, dropsWish: true)
        }
        let isNow = request.body?["now"]?.bool ?? false
        let requester = request.requester
        let waiter = EngineWaiter(exchange, services: nil) { _ in nil }
        waiter.projectEnd = { [unowned self] in downLine($0) }
        add(waiter, request)
        inbox.post(Command(.stopProject(.requested(requester)), by: requester))
        if isNow { inbox.post(Command(.force, by: requester)) }
    }

    private func downLine(_ result: ProjectResult) -> JSONValue {
        let survivors = result.survivors.map(\.json)
        guard survivors.isEmpty, result.outcome?.abandoned.isEmpty ?? true else {
            return .result(3, "survivors", "something outlived the stop", survivors: survivors)
        }
        return .result(0, "ended", "everything has ended")
    }

    private func restart(_ request: ControlRequest, _ exchange: ControlExchange) {
        guard let ids = services(request, exchange), !ids.isEmpty else {
            return exchange.fail(400, code: "noNames", message: "name at least one service")
        }
        let before = ids.map { machine.state(of: $0).incarnation }
        command(.restart(ids), request, exchange) { _ in
            { engine in
                // What had ended has left that state with the command: it may have ended again.
                let isNew = zip(ids, before).allSatisfy { id, old in
                    old == nil || engine.machine.state(of: id).incarnation != old
                }
                return isNew ? engine.awaited(ids, "ready") { $0.isThere } : nil
            }
        }
    }

    private func signal(_ request: ControlRequest, _ exchange: ControlExchange) {
        guard let name = request.body?["name"]?.string, let signal = request.body?["signal"] else {
            return exchange.fail(400, code: "badBody", message: "give \"name\" and \"signal\"")
        }
        let number: Int32
        do { number = try parseSignal(signal.string ?? "\(signal.integer ?? 0)") } catch {
            return exchange.fail(400, code: "badBody", message: "\(error)")
        }
        guard let id = service(name, exchange) else { return }
        let target: SignalTarget
        switch request.body?["to"]?.string ?? "main" {
        case "main": target = .main
        case "group": target = .group
        case "tree": target = .tree
        case let other:
            return exchange.fail(
                400, code: "badBody", message: "\"to\" is main, group or tree, not \(other)")
        }
        command(.signal(id, number, target), request, exchange) { _ in
            { _ in .result(0, "sent", "\(signalText(number)) was sent to \(name)") }
        }
    }

    private func wait(_ request: ControlRequest, _ exchange: ControlExchange) {
        guard let ids = services(request, exchange), !ids.isEmpty else {
            return exchange.fail(400, code: "noNames", message: "name at least one service")
        }
        let test: (ServiceState) -> Verdict3
        let word = request.body?["for"]?.string ?? "ready"
        switch word {
        case "ready": test = { $0.isThere }
        case "stopped": test = { $0.isDown }
        case "completed": test = { $0.isCompleted }
        case let other:
            return exchange.fail(
                400, code: "badBody",
                message: "\"for\" is ready, stopped or completed, not \(other)")
        }
        let names = ids.map(name)
        let waiter = EngineWaiter(exchange, services: Set(names)) { engine in
            engine.awaited(ids, word, test)
        }
        waiter.lateWords = { limit in
            let subject = names.count == 1 ? "\(names[0]) was" : "not all were"
            return "\(subject)\(names.count == 1 ? " not" : "") \(word) within \(limit)"
        }
        add(waiter, request)
        if waiter.isDone(self) { forget(waiter) }
    }

    // MARK: Helpers

    /// Posts a command, and answers once there is a last line. A refused one is answered at once.
    ///
    /// - Parameter done: From what the brain decided, how to tell whether there is a last line.
    func command(
        _ verb: Command.Verb, _ request: ControlRequest, _ exchange: ControlExchange,
        done: @escaping ([LifecycleDecision]) -> (Engine) -> JSONValue?
    ) {
        inbox.post(Command(verb, by: request.requester)) { [weak self] decisions in
            guard let self else { return }
            for case .refused(_, _, let refusal) in decisions.map(\.what) {
                let words = refusal.words(request.body?["name"]?.string)
                return exchange.fail(409, code: refusal.code, message: words)
            }
            guard request.body?["wait"]?.bool ?? true else {
                return exchange.respond(200, .result(0, "accepted", acceptedWords(verb)))
            }
            // What it takes along belongs to the story, and so does what was decided just now.
            let names = request.names
            let involved = names + decisions.compactMap(\.service).map(name)
            let waiter = EngineWaiter(
                exchange, services: names.isEmpty ? nil : Set(involved), done: done(decisions))
            tell(waiter, decisions)
            add(waiter, request)
        }
    }

    private func acceptedWords(_ verb: Command.Verb) -> String {
        guard case .up = verb else { return "accepted" }
        return "it runs already (engine pid \(getOwnPID())); what was missing is started"
    }

    /// Hands a waiter that comes after them the events of these decisions.
    func tell(_ waiter: EngineWaiter, _ decisions: [LifecycleDecision]) {
        for case let id? in decisions.map({ eventOfDecision[$0.id] }) {
            if let record = journal.record(id) { waiter.hear(record) }
        }
    }

    func add(_ waiter: EngineWaiter, _ request: ControlRequest) {
        waiters.append(waiter)
        // At once: nothing may happen for hours, and a client may come and go every second.
        waiter.onGone = { [weak self, weak waiter] in
            if let self, let waiter { forget(waiter) }
        }
        if let seconds = request.body?["timeout"]?.seconds {
            waiter.limit(.seconds(min(max(seconds, 0), 1e9)), probeTimers)
        }
    }

    private func forget(_ waiter: EngineWaiter) {
        waiter.abandon(probeTimers)
        waiters.removeAll { $0 === waiter }
    }

    /// The services named, each once.
    private func services(
        _ request: ControlRequest, _ exchange: ControlExchange
    ) -> [ServiceID]? {
        var ids: [ServiceID] = []
        var seen: Set<String> = []
        for name in request.names where seen.insert(name).inserted {
            guard let id = service(name, exchange) else { return nil }
            ids.append(id)
        }
        return ids
    }

    private func service(_ name: String, _ exchange: ControlExchange) -> ServiceID? {
        guard let id = machine.service(named: ServiceName(name)) else {
            exchange.fail(404, code: "unknownService", message: "no service \"\(name)\"")
            return nil
        }
        return id
    }

    func name(_ id: ServiceID) -> String { machine.spec(of: id).name.text }

    private var wantedServices: [ServiceID] { machine.services.filter(machine.isWanted) }

    /// The last line once every service is as wanted, or one can no longer become so.
    func awaited(
        _ ids: [ServiceID], _ word: String, _ test: (ServiceState) -> Verdict3
    ) -> JSONValue? {
        let present = ids.filter(machine.has)
        let failed = present.filter { test(machine.state(of: $0)) == .no }
        guard failed.isEmpty else {
            let failures = failed.map(whyNot)
            return .result(1, "failed", failures.joined(separator: "; "), failures: failures)
        }
        guard present.allSatisfy({ test(machine.state(of: $0)) == .yes }) else { return nil }
        let subject = ids.count == 1 ? ids.first.map { "\(name($0)) is" } : nil
        return .result(0, "done", "\(subject ?? "all are") \(word)")
    }
}

extension Refusal {
    /// One word for programs.
    var code: String {
        switch self {
        case .projectStopping: "projectStopping"
        case .notRunning: "notRunning"
        case .notYet: "notYet"
        case .unknownService: "unknownService"
        }
    }
}

extension ControlRequest {
    /// Who asks, in words.
    var requester: String { "uid \(peer.uid)" }
    /// The services named.
    var names: [String] { body?["names"]?.array?.compactMap(\.string) ?? [] }
}
