// Linked into tests under the Thread Sanitizer. Its own `clone` takes a child that shares our
// memory for a fork, and ends the program. What such a child does is one thread's work: its parent
// waits.
#define _GNU_SOURCE
#include <sched.h>
#include <stdarg.h>
#include <sys/types.h>

int __clone(int (*entry)(void *), void *stack, int flags, void *argument, ...);

int clone(int (*entry)(void *), void *stack, int flags, void *argument, ...)
{
    va_list more;
    va_start(more, argument);
    pid_t *parent = va_arg(more, pid_t *);
    va_end(more);
    return __clone(entry, stack, flags, argument, parent);
}
