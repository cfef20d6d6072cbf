import Testing

@testable import Stoic

@Suite("A service while it stops", .timeLimit(.minutes(1)))
struct StoppingTests {
    @Test("LIF-19: queued, its launch not answered")
    func queuedLaunching() {
        var table = StateTable(hasDependent: true)
        table.queue(.launching)
        table.check(
            """
            launched: queued,held launched
            launchFailed: held failed stopped
            exitedWell exitedBadly treeEmpty: = defect
            ready notReady stopping watchdogPing probePassed probeFailed watchdogInterval
                watchdogOff watchdogTrigger: = event.noted
            channelOpened: = channelOpened
            extendTimeout: = extensionRefused
            startTimer rungTimer killTimer abandonTimer watchdogTimer healthyTimer backoffTimer
                budgetTimer: = event.stale
            paused: = liveness.paused
            needMet needLost: =
            up start restart: queued,again command.accepted
            stop down: = command.accepted event.noted
            stopProject: = command.accepted project.stopping event.noted
            force: killed,held command.accepted project.stopping event.noted project.forced
                killed
            signal reload adopt freeze replicas: = command.refused
            planChanges: queued,again command.accepted plan.started event.noted
            planRemoves: awaitingLaunch,forget command.accepted plan.started event.noted
                stopping
            """)
    }

    @Test("LIF-19: queued, not ready")
    func queuedProbing() {
        var table = StateTable(hasDependent: true)
        table.queue(.probing)
        table.check(
            """
            launched launchFailed treeEmpty: = defect
            exitedWell exitedBadly: cleaning,held mainExited
            ready notReady stopping watchdogPing probePassed probeFailed watchdogInterval
                watchdogOff watchdogTrigger: = event.noted
            channelOpened: = channelOpened
            extendTimeout: = extensionRefused
            startTimer rungTimer killTimer abandonTimer watchdogTimer healthyTimer backoffTimer
                budgetTimer: = event.stale
            paused: = liveness.paused
            needMet needLost: =
            up start restart: queued,again command.accepted
            stop down: = command.accepted event.noted
            stopProject: = command.accepted project.stopping event.noted
            force: killed,held command.accepted project.stopping event.noted project.forced
                killed
            signal: = command.accepted signalled
            reload: = command.accepted reloadSent
            planChanges: queued,again command.accepted plan.started event.noted
            planRemoves: acted,forget command.accepted plan.started event.noted stopping
                signalled
            adopt freeze replicas: = command.refused
            """)
    }

    @Test("LIF-19: queued, ready")
    func queuedUp() {
        var table = StateTable(hasDependent: true)
        table.queue(.up(.ready))
        table.check(
            """
            launched launchFailed treeEmpty: = defect
            exitedWell exitedBadly: cleaning,held mainExited
            ready notReady stopping watchdogPing probePassed probeFailed watchdogInterval
                watchdogOff watchdogTrigger: = event.noted
            channelOpened: = channelOpened
            extendTimeout: = extensionRefused
            startTimer rungTimer killTimer abandonTimer watchdogTimer healthyTimer backoffTimer
                budgetTimer: = event.stale
            paused: = liveness.paused
            needMet needLost: =
            up start restart: queued,again command.accepted
            stop down: = command.accepted event.noted
            stopProject: = command.accepted project.stopping event.noted
            force: killed,held command.accepted project.stopping event.noted project.forced
                killed
            signal: = command.accepted signalled
            reload: = command.accepted reloadSent
            planChanges: queued,again command.accepted plan.started event.noted
            planRemoves: queued,forget command.accepted plan.started event.noted
            adopt freeze replicas: = command.refused
            """)
    }

    @Test("LIF-19: its launch not answered")
    func awaitingLaunch() {
        var table = StateTable()
        table.bringUpOthers()
        table.command(.stopProject(.requested("test")))
        table.check(
            """
            launched: acted,stopped launched signalled
            launchFailed: stopped failed stopped
            exitedWell exitedBadly treeEmpty: = defect
            ready notReady stopping watchdogPing probePassed probeFailed watchdogInterval
                watchdogOff watchdogTrigger: = event.noted
            channelOpened: = channelOpened
            extendTimeout: = extensionRefused
            startTimer rungTimer abandonTimer watchdogTimer healthyTimer backoffTimer: =
                event.stale
            killTimer: killed,stopped killed
            budgetTimer: killed,stopped project.exitBudgetExceeded killed
            paused: = liveness.paused
            needMet needLost: =
            up start restart signal reload planChanges planRemoves adopt freeze replicas: =
                command.refused
            stop down: = command.accepted
            stopProject: = command.accepted event.noted
            force: killed,stopped command.accepted project.forced killed
            """)
    }

    @Test("LIF-19: the message out")
    func messageSent() {
        var table = StateTable()
        table.bringUp()
        table.say(.channelOpened)
        table.stop()
        table.check(
            """
            launched launchFailed treeEmpty: = defect
            exitedWell exitedBadly: cleaning,held mainExited
            ready notReady watchdogPing probePassed probeFailed watchdogInterval watchdogOff
                watchdogTrigger: = event.noted
            channelOpened: = channelOpened
            stopping: answered,held stopAnswered
            extendTimeout: = extensionRefused
            startTimer abandonTimer watchdogTimer healthyTimer backoffTimer budgetTimer: =
                event.stale
            rungTimer: acted,held signalled
            killTimer: killed,held killed
            paused: = liveness.paused
            needMet needLost: =
            up start restart: messageSent,again command.accepted
            stop down: = command.accepted event.noted
            stopProject: = command.accepted project.stopping event.noted
            force: killed,held command.accepted project.stopping event.noted project.forced
                killed
            signal: = command.accepted signalled
            reload: = command.accepted reloadSent
            planChanges: messageSent,again command.accepted plan.started event.noted
            planRemoves: messageSent,forget command.accepted plan.started event.noted
            adopt freeze replicas: = command.refused
            """)
    }

    @Test("LIF-19: the message answered")
    func answered() {
        var table = StateTable()
        table.bringUp()
        table.say(.channelOpened)
        table.stop()
        table.say(.stopping)
        table.check(
            """
            launched launchFailed treeEmpty: = defect
            exitedWell exitedBadly: cleaning,held mainExited
            ready notReady stopping watchdogPing probePassed probeFailed watchdogInterval
                watchdogOff watchdogTrigger: = event.noted
            channelOpened: = channelOpened
            extendTimeout: = extensionRefused
            startTimer abandonTimer watchdogTimer healthyTimer backoffTimer budgetTimer: =
                event.stale
            rungTimer: acted,held signalled
            killTimer: killed,held killed
            paused: = liveness.paused
            needMet needLost: =
            up start restart: answered,again command.accepted
            stop down: = command.accepted event.noted
            stopProject: = command.accepted project.stopping event.noted
            force: killed,held command.accepted project.stopping event.noted project.forced
                killed
            signal: = command.accepted signalled
            reload: = command.accepted reloadSent
            planChanges: answered,again command.accepted plan.started event.noted
            planRemoves: answered,forget command.accepted plan.started event.noted
            adopt freeze replicas: = command.refused
            """)
    }

    @Test("LIF-19: the last signal out")
    func acted() {
        var table = StateTable()
        table.bringUp()
        table.stop()
        table.check(
            """
            launched launchFailed treeEmpty: = defect
            exitedWell exitedBadly: cleaning,held mainExited
            ready notReady stopping watchdogPing probePassed probeFailed watchdogInterval
                watchdogOff watchdogTrigger rungTimer: = event.noted
            channelOpened: = channelOpened
            extendTimeout: = extensionRefused
            startTimer abandonTimer watchdogTimer healthyTimer backoffTimer budgetTimer: =
                event.stale
            killTimer: killed,held killed
            paused: = liveness.paused
            needMet needLost: =
            up start restart: acted,again command.accepted
            stop down: = command.accepted event.noted
            stopProject: = command.accepted project.stopping event.noted
            force: killed,held command.accepted project.stopping event.noted project.forced
                killed
            signal: = command.accepted signalled
            reload: = command.accepted reloadSent
            planChanges: acted,again command.accepted plan.started event.noted
            planRemoves: acted,forget command.accepted plan.started event.noted
            adopt freeze replicas: = command.refused
            """)
    }

    @Test("LIF-19: its main process gone, its tree not")
    func cleaning() {
        var table = StateTable()
        table.bringUp()
        table.process(.mainExited(.code(1)))
        table.check(
            """
            launched launchFailed exitedWell exitedBadly: = defect
            treeEmpty: backingOff stopped
            ready notReady stopping watchdogPing probePassed probeFailed watchdogInterval
                watchdogOff watchdogTrigger: = event.noted
            channelOpened: = channelOpened
            extendTimeout: = extensionRefused
            startTimer rungTimer abandonTimer watchdogTimer healthyTimer budgetTimer: =
                event.stale
            killTimer: killed,later killed
            backoffTimer: cleaning,again event.noted
            paused: = liveness.paused
            needMet needLost: =
            up: = command.accepted
            start restart: cleaning,again command.accepted
            stop: cleaning,held command.accepted event.noted
            down: cleaning,stopped command.accepted event.noted
            stopProject: cleaning,stopped command.accepted project.stopping event.noted
            force: killed,stopped command.accepted project.stopping event.noted project.forced
                killed
            signal reload adopt freeze replicas: = command.refused
            planChanges: cleaning,again command.accepted plan.started event.noted
            planRemoves: cleaning,forget command.accepted plan.started event.noted
            """)
    }

    @Test("LIF-19: SIGKILL out")
    func killed() {
        var table = StateTable()
        table.bringUp()
        table.restartDeaf()
        table.check(
            """
            launched launchFailed treeEmpty: = defect
            exitedWell exitedBadly: killed,again mainExited
            ready notReady stopping watchdogPing probePassed probeFailed watchdogInterval
                watchdogOff watchdogTrigger: = event.noted
            channelOpened: = channelOpened
            extendTimeout: = extensionRefused
            startTimer rungTimer killTimer watchdogTimer healthyTimer backoffTimer budgetTimer:
                = event.stale
            abandonTimer: abandoned,again abandoned
            paused: = liveness.paused
            needMet needLost: =
            up start restart: = command.accepted
            stop: killed,held command.accepted event.noted
            down: killed,stopped command.accepted event.noted
            stopProject: killed,stopped command.accepted project.stopping event.noted
            force: killed,stopped command.accepted project.stopping event.noted project.forced
            signal: = command.accepted signalled
            reload: = command.accepted reloadSent
            planChanges: = command.accepted plan.started event.noted
            planRemoves: killed,forget command.accepted plan.started event.noted
            adopt freeze replicas: = command.refused
            """)
    }
}
