import Testing

@testable import Stoic

@Suite("A service while it starts", .timeLimit(.minutes(1)))
struct StartingTests {
    @Test("LIF-19: the launch not answered")
    func launching() {
        var table = StateTable()
        table.bringUpOthers()
        table.check(
            """
            launched: probing launched
            launchFailed: failed failed project.stopping stopRequested stopped
            exitedWell exitedBadly treeEmpty ready notReady channelOpened stopping extendTimeout
                watchdogPing probePassed probeFailed watchdogInterval watchdogOff
                watchdogTrigger: = defect
            startTimer: awaitingLaunch,failed failed project.stopping stopRequested stopping
            rungTimer killTimer abandonTimer watchdogTimer healthyTimer backoffTimer
                budgetTimer: = event.stale
            paused: = liveness.paused
            needMet: =
            needLost: awaitingLaunch,again needLost stopRequested stopping
            up start: = command.accepted
            stop: awaitingLaunch,held command.accepted stopRequested stopping
            down: awaitingLaunch,stopped command.accepted stopRequested stopping project.up
            restart: awaitingLaunch,again command.accepted stopRequested stopping
            stopProject: awaitingLaunch,stopped command.accepted project.stopping stopRequested
                stopping
            force: killed,stopped command.accepted project.stopping stopRequested project.forced
                killed
            signal reload adopt freeze replicas: = command.refused
            planChanges: awaitingLaunch,again command.accepted plan.started stopRequested
                stopping
            planRemoves: awaitingLaunch,forget command.accepted plan.started stopRequested
                stopping project.up
            """)
    }

    @Test("LIF-19: not ready yet")
    func probing() {
        var table = StateTable()
        table.bringUpOthers()
        table.process(.launched)
        table.check(
            """
            launched launchFailed treeEmpty: = defect
            exitedWell exitedBadly: cleaning,failed failed project.stopping stopRequested
            ready: up ready project.up
            notReady stopping watchdogPing probePassed probeFailed watchdogTrigger: = event.noted
            channelOpened: = channelOpened
            extendTimeout: = timeoutExtended
            watchdogInterval watchdogOff: = watchdogSet
            startTimer: acted,failed failed project.stopping stopRequested stopping signalled
            rungTimer killTimer abandonTimer watchdogTimer healthyTimer backoffTimer
                budgetTimer: = event.stale
            paused: = liveness.paused
            needMet: =
            needLost: acted,again needLost stopRequested stopping signalled
            up start: = command.accepted
            stop: acted,held command.accepted stopRequested stopping signalled
            down: acted,stopped command.accepted stopRequested stopping signalled project.up
            restart: acted,again command.accepted stopRequested stopping signalled
            stopProject: acted,stopped command.accepted project.stopping stopRequested stopping
                signalled
            force: killed,stopped command.accepted project.stopping stopRequested project.forced
                killed
            signal: = command.accepted signalled
            reload: = command.accepted reloadSent
            planChanges: acted,again command.accepted plan.started stopRequested stopping
                signalled
            planRemoves: acted,forget command.accepted plan.started stopRequested stopping
                signalled project.up
            adopt freeze replicas: = command.refused
            """)
    }

    @Test("LIF-19: a oneshot that runs")
    func oneshot() {
        var table = StateTable(Subject.oneshot)
        table.bringUpOthers()
        table.process(.launched)
        table.check(
            """
            launched launchFailed treeEmpty: = defect
            exitedWell: cleaning,completed exited
            exitedBadly: cleaning,failed failed project.stopping stopRequested
            ready notReady stopping watchdogPing probePassed probeFailed watchdogTrigger: =
                event.noted
            channelOpened: = channelOpened
            extendTimeout: = timeoutExtended
            watchdogInterval watchdogOff: = watchdogSet
            startTimer: acted,failed failed project.stopping stopRequested stopping signalled
            rungTimer killTimer abandonTimer watchdogTimer healthyTimer backoffTimer
                budgetTimer: = event.stale
            paused: = liveness.paused
            needMet: =
            needLost: acted,again needLost stopRequested stopping signalled
            up start: = command.accepted
            stop: acted,held command.accepted stopRequested stopping signalled
            down: acted,stopped command.accepted stopRequested stopping signalled project.up
            restart: acted,again command.accepted stopRequested stopping signalled
            stopProject: acted,stopped command.accepted project.stopping stopRequested stopping
                signalled
            force: killed,stopped command.accepted project.stopping stopRequested project.forced
                killed
            signal: = command.accepted signalled
            reload: = command.accepted reloadSent
            planChanges: acted,again command.accepted plan.started stopRequested stopping
                signalled
            planRemoves: acted,forget command.accepted plan.started stopRequested stopping
                signalled project.up
            adopt freeze replicas: = command.refused
            """)
    }
}
