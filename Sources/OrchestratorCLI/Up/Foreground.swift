public import Manifest

/// Runs the engine in this process until everything has ended.
public func runForeground(_ project: ProjectDefinition, options: UpOptions) -> ExitCode {
    .defect
}
