// why: a state is entered by a rule of the table and in no other way.
// error: cannot assign to property: 'state' is a get-only property
import Stoic

enum Lamp: CaseIterable { case dark, lit }
enum Switch: CaseIterable { case flip }

func setState(_ machine: StateMachine<Lamp, Switch>) throws {
    #if CORRECTED
        _ = try machine.send(.flip)
    #else
        machine.state = .lit
    #endif
}
