import Testing

@testable import Stoic

@Suite("A service while it is abandoned", .timeLimit(.minutes(1)))
struct AbandonedTests {
    @Test("LIF-19: to be launched again")
    func abandoned() {
        var table = StateTable()
        table.bringUp()
        table.restartDeaf()
        table.fire(.abandon(table.life))
        table.check(
            """
            launched: = launched
            launchFailed treeEmpty: launching abandonedTreeEmpty stopped launching
            exitedWell exitedBadly: = mainExited
            ready notReady channelOpened stopping extendTimeout watchdogPing probePassed
                probeFailed watchdogInterval watchdogOff watchdogTrigger: = event.noted
            startTimer rungTimer killTimer abandonTimer watchdogTimer healthyTimer backoffTimer
                budgetTimer: = event.stale
            paused: = liveness.paused
            needMet needLost: =
            up start restart: = command.accepted
            stop: abandoned,held command.accepted event.noted
            down: abandoned,stopped command.accepted event.noted
            stopProject: abandoned,stopped command.accepted project.stopping event.noted
            force: abandoned,stopped command.accepted project.stopping event.noted
                project.forced
            signal reload adopt freeze replicas: = command.refused
            planChanges: = command.accepted plan.started event.noted plan.settled
            planRemoves: abandoned,forget command.accepted plan.started event.noted plan.settled
            """)
    }

    @Test("LIF-19: to be launched again after its delay")
    func abandonedLater() {
        var table = StateTable()
        table.bringUp()
        table.process(.mainExited(.code(1)))
        table.fire(.kill(table.life))
        table.fire(.abandon(table.life))
        table.check(
            """
            launched: = launched
            launchFailed treeEmpty: backingOff abandonedTreeEmpty stopped
            exitedWell exitedBadly: = mainExited
            ready notReady channelOpened stopping extendTimeout watchdogPing probePassed
                probeFailed watchdogInterval watchdogOff watchdogTrigger: = event.noted
            startTimer rungTimer killTimer abandonTimer watchdogTimer healthyTimer budgetTimer:
                = event.stale
            backoffTimer: abandoned,again event.noted
            paused: = liveness.paused
            needMet needLost: =
            up: = command.accepted
            start restart: abandoned,again command.accepted
            stop: abandoned,held command.accepted event.noted
            down: abandoned,stopped command.accepted event.noted
            stopProject: abandoned,stopped command.accepted project.stopping event.noted
            force: abandoned,stopped command.accepted project.stopping event.noted
                project.forced
            signal reload adopt freeze replicas: = command.refused
            planChanges: abandoned,again command.accepted plan.started event.noted plan.settled
            planRemoves: abandoned,forget command.accepted plan.started event.noted plan.settled
            """)
    }
}
