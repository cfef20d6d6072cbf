import Stoic

/// One client of `logs` or `events`: what is there first, then, if it follows, what comes. It sends
/// as fast as the client takes, and loses nothing but what a follower that is too slow must lose,
/// which is counted.
final class ItemStream<Item> {
    private let exchange: ControlExchange
    private let json: (Item) -> JSONValue
    private var waiting: [Item]
    private var next = 0
    private var follower: Follower<Item>?
    /// What it may hold of the engine's bounds, until it ends.
    private var holds: [StreamHold]

    /// Bytes of room one item is sure to find: a line of 16 KiB whose escapes double it, or a
    /// record with twenty lines of output.
    private static var roomForItem: Int { 64 << 10 }
    /// Items taken from the follower at a time.
    private static var batch: Int { 256 }

    /// - Parameters:
    ///   - items: What is there already, oldest first.
    ///   - follower: What comes from now on.
    init(
        _ exchange: ControlExchange, _ items: [Item], _ follower: Follower<Item>?,
        _ holds: [StreamHold] = [], json: @escaping (Item) -> JSONValue
    ) {
        self.exchange = exchange
        self.json = json
        waiting = items
        self.follower = follower
        self.holds = holds
        exchange.beginStream()
        // A client that left meanwhile would never end it.
        guard exchange.isOpen else {
            close()
            return
        }
        // The exchange keeps the stream alive through these, until it ends.
        exchange.onRoom = { self.send() }
        exchange.onClientGone = { self.close() }
        follower?.onAvailable = { [weak self] in self?.send() }
        send()
    }

    private func send() {
        while exchange.room >= Self.roomForItem {
            if next < waiting.count {
                exchange.send(json(waiting[next]))
                next += 1
                continue
            }
            guard let follower else {
                close()
                return exchange.end()
            }
            let (dropped, items) = follower.take(Self.batch)
            if dropped > 0 { exchange.send(.object(["lost": .integer(Int64(clamping: dropped))])) }
            guard !items.isEmpty else { return }
            waiting = items
            next = 0
        }
    }

    private func close() {
        follower?.close()
        follower = nil
        holds = []
        waiting = []
        next = 0
        exchange.onRoom = nil
        exchange.onClientGone = nil
    }
}

/// A part of something the engine has only so much of; given back when it is forgotten.
final class StreamHold {
    private let giveBack: () -> Void

    init(giveBack: @escaping () -> Void) { self.giveBack = giveBack }

    deinit { giveBack() }
}

extension LogLine {
    /// About how much memory it takes, in bytes.
    var cost: Int { text.utf8.count + 160 }

    /// The line as the control API shows it.
    var json: JSONValue {
        var members: [JSONObject.Member] = [
            .init(key: "service", value: .string(service.text)),
            .init(key: "ts", value: .string(WallTime(nanoseconds: wall).utc)),
            .init(key: "wallNs", value: .integer(wall)),
        ]
        if let incarnation {
            members.append(
                .init(key: "incarnation", value: .integer(Int64(clamping: incarnation.number))))
        }
        members.append(.init(key: "stream", value: .string(stream.name)))
        members.append(.init(key: "text", value: .string(text)))
        for (key, isSet) in [
            ("cut", isCut), ("continued", isContinued), ("unfinished", isUnfinished),
        ] where isSet {
            members.append(.init(key: key, value: .bool(true)))
        }
        return .object(JSONObject(members))
    }
}
