// why: states and events are different types: only an event can be sent.
// error: cannot convert value of type 'Door' to expected argument type 'Push'
import Stoic

enum Door: CaseIterable { case open, shut }
enum Push: CaseIterable { case push, pull }

func sendState(_ machine: StateMachine<Door, Push>) throws {
    #if CORRECTED
        _ = try machine.send(Push.push)
    #else
        _ = try machine.send(Door.shut)
    #endif
}
