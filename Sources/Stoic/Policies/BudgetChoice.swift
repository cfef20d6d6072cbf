/// Which retry budget a policy draws from that is made once and kept.
public enum BudgetChoice: Sendable {
    /// The one of this name in the surroundings of each call, so that a test's budgets are its own.
    case ambient(named: String = "default")
    /// This one, whoever calls.
    case shared(RetryBudget)
    /// None: nothing but the policy's own numbers limits it.
    case unlimited

    /// The budget of a call that begins now.
    var current: RetryBudget? {
        switch self {
        case .ambient(let name): Ambient.current.budgets.named(name)
        case .shared(let budget): budget
        case .unlimited: nil
        }
    }
}
