import Testing

@testable import Stoic

@Suite("A service once it has ended", .timeLimit(.minutes(1)))
struct EndedTests {
    @Test("LIF-19: never started")
    func neverStarted() {
        var table = StateTable(Subject.manual)
        table.bringUpOthers()
        table.check(
            """
            launched launchFailed exitedWell exitedBadly treeEmpty ready notReady channelOpened
                stopping extendTimeout watchdogPing probePassed probeFailed watchdogInterval
                watchdogOff watchdogTrigger startTimer rungTimer killTimer abandonTimer
                watchdogTimer healthyTimer backoffTimer budgetTimer: = event.stale
            paused: = liveness.paused
            needMet needLost: =
            up down: = command.accepted
            start restart: launching command.accepted launching
            stop: held command.accepted event.noted
            stopProject: = command.accepted project.stopping
            force: = command.accepted project.stopping project.forced
            signal reload adopt freeze replicas: = command.refused
            planChanges: = command.accepted plan.started plan.settled
            planRemoves: = command.accepted plan.started forgotten plan.settled
            """)
    }

    @Test("LIF-19: held")
    func held() {
        var table = StateTable()
        table.bringUp()
        table.stop()
        table.end(.code(0))
        table.check(
            """
            launched launchFailed exitedWell exitedBadly treeEmpty ready notReady channelOpened
                stopping extendTimeout watchdogPing probePassed probeFailed watchdogInterval
                watchdogOff watchdogTrigger startTimer rungTimer killTimer abandonTimer
                watchdogTimer healthyTimer backoffTimer budgetTimer: = event.stale
            paused: = liveness.paused
            needMet needLost: =
            up start restart: launching command.accepted launching
            stop: = command.accepted event.noted
            down: stopped command.accepted event.noted
            stopProject: = command.accepted project.stopping
            force: = command.accepted project.stopping project.forced
            signal reload adopt freeze replicas: = command.refused
            planChanges: = command.accepted plan.started plan.settled
            planRemoves: = command.accepted plan.started forgotten plan.settled
            """)
    }

    @Test("LIF-19: stopped")
    func stopped() {
        var table = StateTable()
        table.bringUp()
        table.command(.down([table.subject]))
        table.end(.code(0))
        table.check(
            """
            launched launchFailed exitedWell exitedBadly treeEmpty ready notReady channelOpened
                stopping extendTimeout watchdogPing probePassed probeFailed watchdogInterval
                watchdogOff watchdogTrigger startTimer rungTimer killTimer abandonTimer
                watchdogTimer healthyTimer backoffTimer budgetTimer: = event.stale
            paused: = liveness.paused
            needMet needLost: =
            up start restart: launching command.accepted launching
            stop: held command.accepted event.noted
            down: = command.accepted
            stopProject: = command.accepted project.stopping
            force: = command.accepted project.stopping project.forced
            signal reload adopt freeze replicas: = command.refused
            planChanges: = command.accepted plan.started plan.settled
            planRemoves: = command.accepted plan.started forgotten plan.settled
            """)
    }

    @Test("LIF-19: exited with success")
    func exited() {
        var table = StateTable()
        table.bringUp()
        table.end(.code(0))
        table.check(
            """
            launched launchFailed exitedWell exitedBadly treeEmpty ready notReady channelOpened
                stopping extendTimeout watchdogPing probePassed probeFailed watchdogInterval
                watchdogOff watchdogTrigger startTimer rungTimer killTimer abandonTimer
                watchdogTimer healthyTimer backoffTimer budgetTimer: = event.stale
            paused: = liveness.paused
            needMet needLost: =
            up down: = command.accepted
            start restart: launching command.accepted launching
            stop: held command.accepted event.noted
            stopProject: = command.accepted project.stopping
            force: = command.accepted project.stopping project.forced
            signal reload adopt freeze replicas: = command.refused
            planChanges: launching command.accepted plan.started launching
            planRemoves: = command.accepted plan.started forgotten plan.settled
            """)
    }

    @Test("LIF-19: failed")
    func failed() {
        var table = StateTable(Subject.neverAgain)
        table.bringUp()
        table.crash()
        table.check(
            """
            launched launchFailed exitedWell exitedBadly treeEmpty ready notReady channelOpened
                stopping extendTimeout watchdogPing probePassed probeFailed watchdogInterval
                watchdogOff watchdogTrigger startTimer rungTimer killTimer abandonTimer
                watchdogTimer healthyTimer backoffTimer budgetTimer: = event.stale
            paused: = liveness.paused
            needMet needLost: =
            up start restart: launching command.accepted launching
            stop: held command.accepted event.noted
            down: = command.accepted
            stopProject: = command.accepted project.stopping
            force: = command.accepted project.stopping project.forced
            signal reload adopt freeze replicas: = command.refused
            planChanges: launching command.accepted plan.started launching
            planRemoves: = command.accepted plan.started forgotten plan.settled
            """)
    }

    @Test("LIF-19: gave up")
    func gaveUp() {
        var table = StateTable(Subject.withoutRestarts)
        table.bringUp()
        table.crash()
        table.check(
            """
            launched launchFailed exitedWell exitedBadly treeEmpty ready notReady channelOpened
                stopping extendTimeout watchdogPing probePassed probeFailed watchdogInterval
                watchdogOff watchdogTrigger startTimer rungTimer killTimer abandonTimer
                watchdogTimer healthyTimer backoffTimer budgetTimer: = event.stale
            paused: = liveness.paused
            needMet needLost: =
            up start restart: launching command.accepted launching
            stop: held command.accepted event.noted
            down: = command.accepted
            stopProject: = command.accepted project.stopping
            force: = command.accepted project.stopping project.forced
            signal reload adopt freeze replicas: = command.refused
            planChanges: launching command.accepted plan.started launching
            planRemoves: = command.accepted plan.started forgotten plan.settled
            """)
    }

    @Test("LIF-19: completed, and runs again with its needs")
    func completed() {
        var table = StateTable(Subject.rerunning)
        table.bringUpOthers()
        table.process(.launched)
        table.end(.code(0))
        table.check(
            """
            launched launchFailed exitedWell exitedBadly treeEmpty ready notReady channelOpened
                stopping extendTimeout watchdogPing probePassed probeFailed watchdogInterval
                watchdogOff watchdogTrigger startTimer rungTimer killTimer abandonTimer
                watchdogTimer healthyTimer backoffTimer budgetTimer: = event.stale
            paused: = liveness.paused
            needMet: launching launching
            needLost: =
            up down: = command.accepted
            start restart: launching command.accepted launching
            stop: held command.accepted event.noted
            stopProject: = command.accepted project.stopping
            force: = command.accepted project.stopping project.forced
            signal reload adopt freeze replicas: = command.refused
            planChanges: launching command.accepted plan.started launching
            planRemoves: = command.accepted plan.started forgotten plan.settled
            """)
    }
}
