import Stoic

/// A value of the type its key asks for, and where it stands.
struct Checked: Located {
    var place: Place
    var path: String
    var value: Value

    /// A value by its type.
    indirect enum Value {
        /// Text without references, a word of a choice.
        case text(String)
        case template(Template)
        case flag(Bool)
        case integer(Int64)
        case number(Double)
        case duration(Duration)
        case size(UInt64)
        case signal(Int32)
        /// A limit; `nil` is unlimited.
        case limit(UInt64?)
        /// A command as text, not split yet: `shell` decides what is done with it.
        case commandText(String)
        case list([Checked])
        case map([Entry])
        case object(CheckedObject)
    }

    /// An entry of a map whose keys the user names.
    struct Entry {
        var key: String
        var spot: Spot
        var value: Checked
    }

    var text: String? { if case .text(let text) = value { text } else { nil } }
    var flag: Bool? { if case .flag(let flag) = value { flag } else { nil } }
    var integer: Int64? { if case .integer(let number) = value { number } else { nil } }
    var number: Double? { if case .number(let number) = value { number } else { nil } }
    var duration: Duration? { if case .duration(let duration) = value { duration } else { nil } }
    var size: UInt64? { if case .size(let size) = value { size } else { nil } }
    var signal: Int32? { if case .signal(let signal) = value { signal } else { nil } }
    var list: [Checked]? { if case .list(let list) = value { list } else { nil } }
    var map: [Entry]? { if case .map(let map) = value { map } else { nil } }
    var object: CheckedObject? { if case .object(let object) = value { object } else { nil } }

    var template: Template? {
        switch value {
        case .template(let template): template
        case .text(let text), .commandText(let text): Template(literal: text)
        case .flag, .integer, .number, .duration, .size, .signal, .limit, .list, .map, .object: nil
        }
    }
}

/// A map whose keys a table names. What is present and wrong was reported, and has no value here.
struct CheckedObject: Located {
    var place: Place
    var path: String
    var values: [String: Checked] = [:]
    /// Every key of the table that was given, right or wrong, in the order of the file.
    var given: [String] = []

    subscript(_ key: String) -> Checked? { values[key] }
}
