// Linked into tests under the Thread Sanitizer. A `Mutex` that is contended is taken and given back
// in the standard library, which is built without the sanitizer: it would report everything that a
// mutex guards. These stand before the library's own, call them, and say what they did.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdbool.h>
#include <stdint.h>

#define SWIFT __attribute__((swiftcall))
#define SELF __attribute__((swift_context))
#define LIBRARY(name) "$s15Synchronization12_MutexHandleV" name

// ThreadSanitizer's interface for synchronization it cannot see (compiler-rt, dynamic annotations).
void __tsan_acquire(void *place);
void __tsan_release(void *place);

SWIFT void lock(uint32_t thread, SELF void *mutex) __asm__(LIBRARY("9_lockSlowyys6UInt32VF"));
SWIFT void unlock(SELF void *mutex) __asm__(LIBRARY("11_unlockSlowyyF"));
SWIFT bool try_lock(SELF void *mutex) __asm__(LIBRARY("12_tryLockSlowSbyF"));

SWIFT void lock(uint32_t thread, SELF void *mutex)
{
    static SWIFT void (*real)(uint32_t, SELF void *);
    if (!real) real = dlsym(RTLD_NEXT, LIBRARY("9_lockSlowyys6UInt32VF"));
    real(thread, mutex);
    __tsan_acquire(mutex);
}

SWIFT void unlock(SELF void *mutex)
{
    static SWIFT void (*real)(SELF void *);
    if (!real) real = dlsym(RTLD_NEXT, LIBRARY("11_unlockSlowyyF"));
    __tsan_release(mutex);
    real(mutex);
}

SWIFT bool try_lock(SELF void *mutex)
{
    static SWIFT bool (*real)(SELF void *);
    if (!real) real = dlsym(RTLD_NEXT, LIBRARY("12_tryLockSlowSbyF"));
    bool taken = real(mutex);
    if (taken) __tsan_acquire(mutex);
    return taken;
}
