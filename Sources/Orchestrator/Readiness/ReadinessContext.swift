import EventLoop
import Manifest
import Stoic

/// Runs a command as a small incarnation of its own, on behalf of a service.
///
/// It calls `completion` once, on the loop's thread and not before it returned, when nothing of the
/// run is left; its whole tree is killed at `timeout`. The closure it returns cancels the run:
/// everything of it is killed, and `completion` is not called any more.
typealias ProbeRunner = (
    _ arguments: [String], _ timeout: Duration, _ completion: @escaping (CommandOutcome) -> Void
) -> () -> Void

/// What a watch of readiness, or of liveness, needs of the engine.
struct ReadinessContext {
    /// The loop it watches with.
    var loop: Loop
    /// The timers it waits with, in awake time. It outlives the watch.
    var timers: TimerTable
    /// Runs commands.
    var runProbe: ProbeRunner
    /// Our end of the pipe behind each descriptor of the child that a `descriptor` kind names. The
    /// watch owns them from now on. They must be non-blocking.
    var descriptors: [Int32: CInt]
    /// The text of a template, `nil` where it refers to a value that is not there.
    var resolve: (Template) -> String?
}
