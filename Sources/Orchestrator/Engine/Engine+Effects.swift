import Stoic

/// The brain's effects, carried out. Nothing here decides, and nothing here fails: what goes wrong
/// comes back as a fact.
extension Engine {
    func perform(_ effect: LifecycleEffect) {
        switch effect.action {
        case .launch(let id, let life): launch(id, life)
        case .watchReadiness(_, let life): lives[life]?.watchReadiness()
        case .endReadiness(let life): lives[life]?.endReadiness()
        case .watchLiveness(_, let life): lives[life]?.watchLiveness()
        case .endLiveness(let life): lives[life]?.endLiveness()
        case .sendStop(let life, let exit, let deadline):
            lives[life]?.sendStop(exit, deadline: deadline)
        case .sendReload(let life): lives[life]?.sendReload()
        case .runStopCommand(let life, let index, let exit, let deadline):
            lives[life]?.runStopCommand(index, exit, deadline: deadline)
        case .signal(let life, let number, let target):
            lives[life]?.signal(number, to: target)
        case .signalRest(let life, let number): lives[life]?.signalRest(number)
        case .kill(let life): lives[life]?.kill()
        case .arm(let timer, let wait, let clock): timers.arm(timer, after: wait, on: clock)
        case .disarm(let timer):
            firedTimers[timer] = nil
            timers.disarm(timer)
        case .postpone(let timer, let pause):
            timers.postpone(timer, by: pause, fired: firedTimers.removeValue(forKey: timer))
        case .release(let life):
            lives.removeValue(forKey: life)?.close()
            record?.forget(life)
        case .forget(let id): forget(id)
        case .endProject(let outcome): end(outcome)
        }
    }
}
