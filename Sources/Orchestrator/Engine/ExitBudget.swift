import Glibc
import Manifest

extension ProjectDefinition {
    /// The budget of a container's first process whose config names none: the runtimes send SIGKILL
    /// 10 s after SIGTERM unless told otherwise.
    static let budgetOfFirstProcess = Duration.seconds(9)

    /// The project with the default of the place it runs in, where the config does not say.
    func withBudgetOfItsPlace(pid: pid_t = getpid()) -> ProjectDefinition {
        guard pid == 1, !isExitBudgetGiven else { return self }
        var project = self
        project.exitBudget = Self.budgetOfFirstProcess
        return project
    }
}
