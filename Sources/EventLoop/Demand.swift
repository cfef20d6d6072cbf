/// Ends the process over a defect of ours, with a message that a release build prints as well
/// (`precondition` keeps its message to itself there).
func demand(_ condition: Bool, _ message: @autoclosure () -> String) {
    guard condition else { fatalError(message()) }
}
