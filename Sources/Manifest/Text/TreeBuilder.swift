/// Builds nodes from the events of a parser: caps, duplicate keys, anchors and `<<` in one place
/// for every format.
///
/// A fault that leaves the structure readable is collected; any other ends the building.
struct TreeBuilder {
    /// What is wrong so far, and the text can be read on.
    private(set) var faults: [TextFault] = []
    /// The whole, once the outermost node is complete.
    private(set) var root: Node?
    private var frames: [Frame] = []
    private var anchors: [String: Node] = [:]
    private var nodeCount = 0
    private var repeatedBytes = 0

    /// A list or a map that is not complete yet.
    private struct Frame {
        var place: Place
        var anchor: String?
        var items: [Node] = []
        var mapping: MappingFrame?
    }

    private struct MappingFrame {
        var entries: [Node.Entry] = []
        var keyPlaces: [String: Place] = [:]
        var pending: PendingKey?
        var merged: [Node.Entry] = []
    }

    private struct PendingKey {
        var text: String
        var place: Place
        var isMerge: Bool
        var isDuplicate: Bool
    }

    /// Text. `isPlain`: it stood there without quotes, so `<<` means merging.
    mutating func scalar(
        _ text: String, at place: Place, anchor: String? = nil, isPlain: Bool = false
    ) throws(TextFault) {
        var node = Node(.scalar(text), at: place)
        if text.utf8.contains(0) {
            let problem = "the text contains a NUL character, which no program can be given"
            faults.append(fault(place, problem))
            if !isAtKey { node = Node(.reported, at: place) }
        }
        try add(node, anchor: anchor, isPlain: isPlain)
    }

    /// JSON's null.
    mutating func null(at place: Place) throws(TextFault) { try add(Node(.null, at: place)) }

    mutating func startSequence(at place: Place, anchor: String? = nil) throws(TextFault) {
        try open(Frame(place: place, anchor: anchor))
    }

    mutating func startMapping(at place: Place, anchor: String? = nil) throws(TextFault) {
        try open(Frame(place: place, anchor: anchor, mapping: MappingFrame()))
    }

    /// A problem of the node that comes next; the building goes on.
    mutating func note(_ place: Place, _ message: String, suggestion: String) {
        var problem = fault(place, message)
        problem.suggestion = suggestion
        faults.append(problem)
    }

    /// The innermost list or map is complete.
    mutating func end() throws(TextFault) {
        guard let frame = frames.popLast() else { return }
        guard var mapping = frame.mapping else {
            return try complete(Node(.sequence(frame.items), at: frame.place), frame.anchor)
        }
        for entry in mapping.merged where mapping.keyPlaces[entry.key] == nil {
            mapping.keyPlaces[entry.key] = entry.keyPlace
            mapping.entries.append(entry)
        }
        try complete(Node(.mapping(mapping.entries), at: frame.place), frame.anchor)
    }

    /// The node that `anchor` names, once more.
    mutating func alias(_ anchor: String, at place: Place) throws(TextFault) {
        guard let node = anchors[anchor] else {
            guard !frames.contains(where: { $0.anchor == anchor }) else {
                throw fault(place, "*\(anchor) stands inside what it repeats")
            }
            var error = fault(place, "nothing is called &\(anchor) above this line")
            if let near = nearest(to: anchor, among: anchors.keys.sorted()) {
                error.suggestion = "did you mean *\(near)?"
            }
            guard !isAtKey else { throw error }
            faults.append(error)
            return try add(Node(.reported, at: place))
        }
        try count(node.size, at: place)
        try countRepeated(node.bytes, at: place)
        try checkDepth(node.height, at: place)
        try complete(node, nil)
    }

    /// The keys that lead to the node that comes next: `services.web.needs[2]`.
    var path: String {
        var path = ""
        for frame in frames {
            if let mapping = frame.mapping {
                guard let key = mapping.pending?.text else { continue }
                path += path.isEmpty ? key : ".\(key)"
            } else {
                path += "[\(frame.items.count)]"
            }
        }
        return path
    }

    private func fault(_ place: Place, _ message: String) -> TextFault {
        var fault = TextFault(place, message)
        fault.path = path
        return fault
    }

    private mutating func count(_ nodes: Int, at place: Place) throws(TextFault) {
        nodeCount += nodes
        guard nodeCount <= TextLimits.nodes else {
            throw fault(
                place,
                "the file has more than \(TextLimits.nodes) values, keys and repeated ones counted")
        }
    }

    private mutating func countRepeated(_ bytes: Int, at place: Place) throws(TextFault) {
        repeatedBytes += bytes
        guard repeatedBytes <= TextLimits.repeatedBytes else {
            let most = sizeText(UInt64(TextLimits.repeatedBytes))
            throw fault(place, "aliases repeat more than \(most) of text")
        }
    }

    private func checkDepth(_ height: Int, at place: Place) throws(TextFault) {
        guard frames.count + height <= TextLimits.depth else {
            throw fault(place, "lists and maps are nested more than \(TextLimits.depth) deep")
        }
    }

    private mutating func open(_ frame: Frame) throws(TextFault) {
        guard !isAtKey else {
            throw fault(frame.place, "a key has to be text, not a list or a map")
        }
        try count(1, at: frame.place)
        try checkDepth(1, at: frame.place)
        frames.append(frame)
    }

    private mutating func add(
        _ node: Node, anchor: String? = nil, isPlain: Bool = false
    ) throws(TextFault) {
        try count(1, at: node.place)
        try checkDepth(1, at: node.place)
        try complete(node, anchor, isPlain: isPlain)
    }

    private var isAtKey: Bool {
        guard let top = frames.indices.last, frames[top].mapping != nil else { return false }
        return frames[top].mapping?.pending == nil
    }

    private mutating func complete(
        _ node: Node, _ anchor: String?, isPlain: Bool = false
    ) throws(TextFault) {
        if let anchor { anchors[anchor] = node }
        guard let top = frames.indices.last else {
            root = node
            return
        }
        guard frames[top].mapping != nil else {
            frames[top].items.append(node)
            return
        }
        guard let key = frames[top].mapping?.pending else {
            return try takeKey(node, top, isPlain)
        }
        if key.isMerge {
            try merge(node, into: top)
        } else if !key.isDuplicate {
            frames[top].mapping?.entries.append(
                Node.Entry(key: key.text, keyPlace: key.place, value: node))
        }
        frames[top].mapping?.pending = nil
    }

    private mutating func takeKey(
        _ node: Node, _ top: Int, _ isPlain: Bool
    ) throws(TextFault) {
        guard case .scalar(let text) = node.content else {
            throw fault(node.place, "a key has to be text, not a list or a map")
        }
        guard text.utf8.count <= TextLimits.keyBytes else {
            let most = TextLimits.keyBytes
            throw fault(
                node.place, "a key has \(text.utf8.count) bytes, and at most \(most) are taken")
        }
        var key = PendingKey(text: text, place: node.place, isMerge: false, isDuplicate: false)
        key.isMerge = isPlain && text == "<<"
        if text.isEmpty { faults.append(fault(node.place, "a key is empty")) }
        if !key.isMerge, let first = frames[top].mapping?.keyPlaces[text] {
            key.isDuplicate = true
            faults.append(
                fault(node.place, "\(quoted(text)) is already given at \(first)"))
        } else if !key.isMerge {
            frames[top].mapping?.keyPlaces[text] = node.place
        }
        frames[top].mapping?.pending = key
    }

    /// Keys of the map itself win over merged ones, earlier merged ones over later.
    private mutating func merge(_ node: Node, into top: Int) throws(TextFault) {
        let sources: [Node] =
            if case .sequence(let items) = node.content { items } else { [node] }
        for source in sources {
            guard case .mapping(let entries) = source.content else {
                if case .reported = source.content { continue }
                let problem = "<< takes a map or a list of maps, not \(source.kind)"
                faults.append(fault(node.place, problem))
                continue
            }
            try count(source.size, at: node.place)
            try countRepeated(source.bytes, at: node.place)
            frames[top].mapping?.merged.append(contentsOf: entries)
        }
    }
}
