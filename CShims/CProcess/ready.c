/* epoll(7), which the headers of different systems describe to Swift in different ways. */
#include "include/CProcess.h"

#include <errno.h>
#include <sys/epoll.h>

_Static_assert(CPROC_READABLE == EPOLLIN && CPROC_PRIORITY == EPOLLPRI, "as the kernel numbers");
_Static_assert(CPROC_WRITABLE == EPOLLOUT && CPROC_ERROR == EPOLLERR, "as the kernel numbers");
_Static_assert(CPROC_HANGUP == EPOLLHUP && CPROC_DISCONNECT == EPOLLRDHUP, "as the kernel");

int cproc_ready_set(void)
{
    int set = epoll_create1(EPOLL_CLOEXEC);
    return set >= 0 ? set : -errno;
}

int cproc_ready_change(int set, int descriptor, uint32_t before, uint32_t after, uint64_t tag)
{
    struct epoll_event event = { .events = after, .data = { .u64 = tag } };
    int call = after == 0 ? EPOLL_CTL_DEL : before == 0 ? EPOLL_CTL_ADD : EPOLL_CTL_MOD;
    return epoll_ctl(set, call, descriptor, &event) == 0 ? 0 : errno;
}

int cproc_ready_take(int set, cproc_ready *ready)
{
    struct epoll_event events[CPROC_READY_LIMIT];
    int count = epoll_wait(set, events, CPROC_READY_LIMIT, 0);
    for (int i = 0; i < count; i++)
        ready[i] = (cproc_ready){ .tag = events[i].data.u64, .events = events[i].events };
    return count < 0 ? 0 : count;
}
