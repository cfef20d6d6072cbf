/// Where the events of code come from that runs in no task: that of a thread which serves others.
///
/// Made in the task that is served; on the thread its events have that task's surroundings.
package struct EventOrigin: Sendable {
    private let context = Context.current

    /// The surroundings of the current task.
    package init() {}

    /// Reports a decision.
    package func report(_ name: EventName, _ level: Event.Level, _ fields: [Event.Field] = []) {
        emit(name, level, fields, in: context)
    }
}
