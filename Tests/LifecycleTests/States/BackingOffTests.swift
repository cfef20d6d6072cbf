import Testing

@testable import Stoic

@Suite("A service while its delay runs", .timeLimit(.minutes(1)))
struct BackingOffTests {
    @Test("LIF-19: after a crash")
    func backingOff() {
        var table = StateTable()
        table.bringUp()
        table.crash()
        table.check(
            """
            launched launchFailed exitedWell exitedBadly treeEmpty ready notReady channelOpened
                stopping extendTimeout watchdogPing probePassed probeFailed watchdogInterval
                watchdogOff watchdogTrigger startTimer rungTimer killTimer abandonTimer
                watchdogTimer healthyTimer budgetTimer: = event.stale
            backoffTimer: launching launching
            paused: = liveness.paused
            needMet needLost: =
            up: = command.accepted
            start restart: launching command.accepted launching
            stop: held command.accepted stopped
            down: stopped command.accepted stopped
            stopProject: stopped command.accepted project.stopping stopped
            force: stopped command.accepted project.stopping stopped project.forced
            signal reload adopt freeze replicas: = command.refused
            planChanges: launching command.accepted plan.started launching
            planRemoves: stopped command.accepted plan.started forgotten plan.settled
            """)
    }
}
