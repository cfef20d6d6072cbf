import Synchronization

/// The services a factory or a body may use.
///
/// A factory sees those it listed in `needs`, and no others: the order of starts and stops follows
/// from what is declared, so what is used must be declared. A body sees all of them.
public struct Services: Sendable {
    let values: ServiceValues
    /// Who reads, and what it declared; `nil` for a body.
    let reader: (key: AnyServiceKey, needs: Set<AnyServiceKey>)?

    /// The service of `key`.
    ///
    /// Reading one that was not listed in `needs`, or that the graph does not have, is a
    /// programming error: the process stops with a message that names both keys, in release builds
    /// too.
    public subscript<Value: Sendable>(key: ServiceKey<Value>) -> Value {
        let any = key.any
        if let reader, !reader.needs.contains(any) {
            fatalError(
                "\(reader.key) reads \(any), which it does not declare: add it to its needs")
        }
        guard let value = values[any] as? Value else {
            fatalError("\(any) is not a service of this graph")
        }
        return value
    }
}

/// What the starts of one run of a graph returned.
final class ServiceValues: Sendable {
    private let started = Mutex<[AnyServiceKey: any Sendable]>([:])

    subscript(key: AnyServiceKey) -> (any Sendable)? { started.withLock { $0[key] } }

    func set(_ key: AnyServiceKey, _ value: any Sendable) { started.withLock { $0[key] = value } }
}
