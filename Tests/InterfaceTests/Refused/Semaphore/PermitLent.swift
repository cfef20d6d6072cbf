// why: who was only lent a permit must not give it back under its owner.
// error: 'permit' is borrowed and cannot be consumed
import Stoic

#if CORRECTED
    func work(under permit: consuming Semaphore.Permit) { permit.release() }
#else
    func work(under permit: borrowing Semaphore.Permit) { permit.release() }
#endif
