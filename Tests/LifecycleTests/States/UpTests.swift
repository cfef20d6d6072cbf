import Testing

@testable import Stoic

@Suite("A service while it is up", .timeLimit(.minutes(1)))
struct UpTests {
    @Test("LIF-19: ready")
    func ready() {
        var table = StateTable()
        table.bringUp()
        table.check(
            """
            launched launchFailed treeEmpty: = defect
            exitedWell: cleaning,exited exited
            exitedBadly: cleaning,later failed restartScheduled
            ready watchdogPing probePassed: = event.noted
            probeFailed: = probeFailed
            notReady: notReady notReady
            channelOpened: = channelOpened
            stopping: notReady stopAnswered
            extendTimeout: = extensionRefused
            watchdogInterval watchdogOff: = watchdogSet
            watchdogTrigger watchdogTimer: acted,later failed restartScheduled signalled
            startTimer rungTimer killTimer abandonTimer backoffTimer budgetTimer: = event.stale
            healthyTimer: = healthy
            paused: = liveness.paused
            needMet: =
            needLost: acted,again needLost stopRequested stopping signalled
            up start: = command.accepted
            stop: acted,held command.accepted stopRequested stopping signalled
            down: acted,stopped command.accepted stopRequested stopping signalled
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
                signalled
            adopt freeze replicas: = command.refused
            """)
    }

    @Test("LIF-19: ready, and one liveness probe has failed")
    func failingProbes() {
        var table = StateTable()
        table.bringUp()
        table.say(.probeFailed("no answer"))
        table.check(
            """
            launched launchFailed treeEmpty: = defect
            exitedWell: cleaning,exited exited
            exitedBadly: cleaning,later failed restartScheduled
            ready watchdogPing: = event.noted
            probePassed: = probePassed
            probeFailed: acted,later probeFailed failed restartScheduled stopRequested stopping
                signalled
            notReady: notReady notReady
            channelOpened: = channelOpened
            stopping: notReady stopAnswered
            extendTimeout: = extensionRefused
            watchdogInterval watchdogOff: = watchdogSet
            watchdogTrigger watchdogTimer: acted,later failed restartScheduled signalled
            startTimer rungTimer killTimer abandonTimer backoffTimer budgetTimer: = event.stale
            healthyTimer: = healthy
            paused: = liveness.paused
            needMet: =
            needLost: acted,again needLost stopRequested stopping signalled
            up start: = command.accepted
            stop: acted,held command.accepted stopRequested stopping signalled
            down: acted,stopped command.accepted stopRequested stopping signalled
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
                signalled
            adopt freeze replicas: = command.refused
            """)
    }

    @Test("LIF-19: not ready any more")
    func notReady() {
        var table = StateTable()
        table.bringUp()
        table.say(.notReady("x"))
        table.check(
            """
            launched launchFailed treeEmpty: = defect
            exitedWell: cleaning,exited exited
            exitedBadly: cleaning,later failed restartScheduled
            ready: up ready
            notReady: notReady notReady
            channelOpened: = channelOpened
            stopping: notReady stopAnswered
            extendTimeout: = extensionRefused
            watchdogPing probePassed: = event.noted
            probeFailed: = probeFailed
            watchdogInterval watchdogOff: = watchdogSet
            watchdogTrigger watchdogTimer: acted,later failed restartScheduled signalled
            startTimer rungTimer killTimer abandonTimer healthyTimer backoffTimer budgetTimer: =
                event.stale
            paused: = liveness.paused
            needMet: =
            needLost: acted,again needLost stopRequested stopping signalled
            up start: = command.accepted
            stop: acted,held command.accepted stopRequested stopping signalled
            down: acted,stopped command.accepted stopRequested stopping signalled
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
                signalled
            adopt freeze replicas: = command.refused
            """)
    }

    @Test("LIF-19: completed, with a tree it keeps")
    func completedWithTree() {
        var table = StateTable(Subject.keepingItsTree)
        table.bringUpOthers()
        table.process(.launched)
        table.process(.mainExited(.code(0)))
        table.check(
            """
            launched launchFailed exitedWell exitedBadly: = defect
            treeEmpty: completed stopped
            ready notReady stopping watchdogPing probePassed probeFailed watchdogInterval
                watchdogOff watchdogTrigger: = event.noted
            channelOpened: = channelOpened
            extendTimeout: = extensionRefused
            startTimer rungTimer killTimer abandonTimer watchdogTimer healthyTimer backoffTimer
                budgetTimer: = event.stale
            paused: = liveness.paused
            needMet: acted,again stopRequested stopping signalled
            needLost: acted,again needLost stopRequested stopping signalled
            up start: = command.accepted
            stop: acted,held command.accepted stopRequested stopping signalled
            down: acted,stopped command.accepted stopRequested stopping signalled
            restart: acted,again command.accepted stopRequested stopping signalled
            stopProject: acted,stopped command.accepted project.stopping stopRequested stopping
                signalled
            force: killed,stopped command.accepted project.stopping stopRequested project.forced
                killed
            signal reload adopt freeze replicas: = command.refused
            planChanges: acted,again command.accepted plan.started stopRequested stopping
                signalled
            planRemoves: acted,forget command.accepted plan.started stopRequested stopping
                signalled
            """)
    }
}
