/// What the brain decided. Stable: its names are the events of `orchestrator events`.
public enum Verdict: Hashable, Sendable {
    case placeholder
}
/// A changed config as data.
public struct Plan: Hashable, Sendable {}
