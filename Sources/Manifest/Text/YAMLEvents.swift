import CYAML

/// libyaml's events as values. The only place that touches libyaml.
@safe struct YAMLEvents: ~Copyable {
    private let parser: UnsafeMutablePointer<yaml_parser_t>
    private let input: UnsafeMutableBufferPointer<UInt8>

    /// What the parser met.
    enum Kind {
        case streamStart
        case streamEnd
        case documentStart
        case documentEnd
        case alias(String)
        case scalar(String, isPlain: Bool)
        case sequenceStart
        case mappingStart
        case collectionEnd
    }

    /// An event with its place, its anchor and its explicit tag.
    struct Event {
        var kind: Kind
        var place: Place
        var anchor: String?
        var tag: String?
    }

    /// The events of `bytes`, which are valid UTF-8.
    init(_ bytes: [UInt8]) {
        // SAFETY: both are ours until `deinit`, and the parser reads the input where it is.
        unsafe parser = UnsafeMutablePointer<yaml_parser_t>.allocate(capacity: 1)
        unsafe parser.initialize(to: yaml_parser_t())
        unsafe input = UnsafeMutableBufferPointer.allocate(capacity: max(bytes.count, 1))
        _ = unsafe input.initialize(from: bytes)
        // The parser's memory is small; without it nothing else would work either.
        guard unsafe yaml_parser_initialize(parser) == 1 else { fatalError("out of memory") }
        unsafe yaml_parser_set_input_string(parser, input.baseAddress, bytes.count)
        unsafe yaml_parser_set_encoding(parser, YAML_UTF8_ENCODING)
    }

    deinit {
        // SAFETY: nobody else has the two, and the parser goes before what it reads.
        unsafe yaml_parser_delete(parser)
        unsafe parser.deallocate()
        unsafe input.deallocate()
    }

    /// The next event.
    /// - Throws: A syntax error; nothing can be read after it.
    mutating func next() throws(TextFault) -> Event {
        // SAFETY: an event that was filled is translated, which copies, and then deleted, once.
        var event = unsafe yaml_event_t()
        guard unsafe yaml_parser_parse(parser, &event) == 1 else { throw syntaxFault() }
        defer { unsafe yaml_event_delete(&event) }
        return unsafe Self.translated(event)
    }

    private static func translated(_ event: yaml_event_t) -> Event {
        // SAFETY: its type says which part of the union is filled; texts live as long as the event,
        // and are copied.
        var result = Event(kind: .streamStart, place: unsafe Place(event.start_mark))
        switch unsafe event.type {
        case YAML_STREAM_END_EVENT: result.kind = .streamEnd
        case YAML_DOCUMENT_START_EVENT: result.kind = .documentStart
        case YAML_DOCUMENT_END_EVENT: result.kind = .documentEnd
        case YAML_ALIAS_EVENT:
            result.kind = .alias(unsafe text(event.data.alias.anchor) ?? "")
        case YAML_SCALAR_EVENT:
            let scalar = unsafe event.data.scalar
            let bytes = unsafe UnsafeBufferPointer(start: scalar.value, count: scalar.length)
            let isPlain = unsafe scalar.style == YAML_PLAIN_SCALAR_STYLE
            result.kind = .scalar(unsafe String(decoding: bytes, as: UTF8.self), isPlain: isPlain)
            result.anchor = unsafe text(scalar.anchor)
            result.tag = unsafe text(scalar.tag)
        case YAML_SEQUENCE_START_EVENT:
            result.kind = .sequenceStart
            result.anchor = unsafe text(event.data.sequence_start.anchor)
            result.tag = unsafe text(event.data.sequence_start.tag)
        case YAML_MAPPING_START_EVENT:
            result.kind = .mappingStart
            result.anchor = unsafe text(event.data.mapping_start.anchor)
            result.tag = unsafe text(event.data.mapping_start.tag)
        case YAML_SEQUENCE_END_EVENT, YAML_MAPPING_END_EVENT: result.kind = .collectionEnd
        default: result.kind = .streamStart
        }
        return result
    }

    private static func text(_ bytes: UnsafeMutablePointer<yaml_char_t>?) -> String? {
        // SAFETY: libyaml ends its texts with a zero; they live as long as the event.
        guard let bytes = unsafe bytes else { return nil }
        return unsafe String(decodingCString: bytes, as: UTF8.self)
    }

    private func syntaxFault() -> TextFault {
        // SAFETY: its texts are constants of libyaml, and the input is ours until `deinit`.
        let parser = unsafe parser.pointee
        let problem = unsafe parser.problem.map { unsafe String(cString: $0) } ?? "out of memory"
        if unsafe parser.error == YAML_READER_ERROR {
            let offset = unsafe min(Int(parser.problem_offset), input.count)
            return TextFault(
                unsafe Manifest.place(of: offset, in: Array(input)), "cannot read YAML: \(problem)")
        }
        let place = unsafe Place(parser.problem_mark)
        var message = "cannot read YAML: \(problem)"
        if let context = unsafe parser.context {
            let from = unsafe Place(parser.context_mark)
            message += unsafe ", \(String(cString: context))"
            if from.line != place.line { message += " that begins on line \(from.line)" }
        }
        var fault = TextFault(place, message)
        if problem.hasSuffix("cannot start any token") {
            fault.suggestion = "indent with spaces, not tabs; quote text that begins with @ or %"
        }
        if problem.hasPrefix("did not find expected ','") {
            fault.suggestion =
                "inside [ ] and { }, quote text with a comma or brackets in it, "
                + "\"${VAR}\" too"
        }
        return fault
    }
}

extension Place {
    /// libyaml counts from 0.
    init(_ mark: yaml_mark_t) {
        self.init(line: Int(mark.line) + 1, column: Int(mark.column) + 1)
    }
}

/// Reads YAML: exactly one document, whose scalars stay text.
func parseYAML(_ bytes: [UInt8]) -> ParsedText {
    if let fault = tooManyTags(bytes) { return ParsedText(root: nil, faults: [fault]) }
    var events = YAMLEvents(bytes)
    var builder = TreeBuilder()
    do throws(TextFault) {
        var documents = 0
        reading: while true {
            let event = try events.next()
            switch event.kind {
            case .streamEnd: break reading
            case .streamStart, .documentEnd: continue
            case .documentStart:
                documents += 1
                guard documents == 1 else {
                    throw TextFault(
                        event.place, "a second document begins here; a config is one document",
                        suggestion: "remove the --- line")
                }
            case .alias, .scalar, .sequenceStart, .mappingStart, .collectionEnd:
                try builder.take(event)
            }
        }
        return ParsedText(root: builder.root, faults: builder.faults)
    } catch {
        return ParsedText(root: nil, faults: builder.faults + [error])
    }
}

/// libyaml compares each `%TAG` line with all before it: a file full of them would take hours.
private func tooManyTags(_ bytes: [UInt8]) -> TextFault? {
    var line = 0
    var found = 0
    for text in bytes.lazy.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false) {
        line += 1
        // Where directives end, so does this look: `%` is nothing special below.
        if text.starts(with: "---".utf8) { return nil }
        guard text.starts(with: "%TAG".utf8) else { continue }
        found += 1
        guard found <= TextLimits.tagLines else {
            return TextFault(
                Place(line: line, column: 1),
                "there are more than \(TextLimits.tagLines) %TAG lines",
                suggestion: "remove them: tags mean nothing here")
        }
    }
    return nil
}

extension TreeBuilder {
    fileprivate mutating func take(_ event: YAMLEvents.Event) throws(TextFault) {
        if let tag = event.tag, tag != "!", tag != "tag:yaml.org,2002:str" {
            note(
                event.place, "tags such as \(quoted(tag)) mean nothing here",
                suggestion: "remove it: every key has its type")
        }
        switch event.kind {
        case .alias(let name): try alias(name, at: event.place)
        case .scalar(let text, let isPlain):
            try scalar(text, at: event.place, anchor: event.anchor, isPlain: isPlain)
        case .sequenceStart: try startSequence(at: event.place, anchor: event.anchor)
        case .mappingStart: try startMapping(at: event.place, anchor: event.anchor)
        case .collectionEnd: try end()
        case .streamStart, .streamEnd, .documentStart, .documentEnd: break
        }
    }
}
