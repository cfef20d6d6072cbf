import Testing

@testable import Stoic

@Suite("A service while it waits", .timeLimit(.minutes(1)))
struct WaitingTests {
    @Test("LIF-19: for a need")
    func waiting() {
        var table = StateTable()
        table.upWithoutNeed()
        table.check(
            """
            launched launchFailed exitedWell exitedBadly treeEmpty ready notReady channelOpened
                stopping extendTimeout watchdogPing probePassed probeFailed watchdogInterval
                watchdogOff watchdogTrigger startTimer rungTimer killTimer abandonTimer
                watchdogTimer healthyTimer backoffTimer budgetTimer: = event.stale
            paused: = liveness.paused
            needMet: launching launching
            needLost: =
            up start restart: = command.accepted
            stop: held command.accepted stopped
            down: stopped command.accepted stopped
            stopProject: stopped command.accepted project.stopping stopped
            force: stopped command.accepted project.stopping stopped project.forced
            signal reload adopt freeze replicas: = command.refused
            planChanges: = command.accepted plan.started
            planRemoves: stopped command.accepted plan.started forgotten plan.settled
            """)
    }
}
