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

static int control(int set, int call, int descriptor, uint32_t events, uint64_t tag)
{
    /* The kernel tells of errors and hang-ups unasked; of one that nobody waits for, once. */
    struct epoll_event event = {
        .events = events != 0 ? events : EPOLLONESHOT, .data = { .u64 = tag } };
    return epoll_ctl(set, call, descriptor, &event) == 0 ? 0 : errno;
}

int cproc_ready_begin(int set, int descriptor, uint32_t events, uint64_t tag)
{
    return control(set, EPOLL_CTL_ADD, descriptor, events, tag);
}

int cproc_ready_change(int set, int descriptor, uint32_t events, uint64_t tag)
{
    return control(set, EPOLL_CTL_MOD, descriptor, events, tag);
}

void cproc_ready_end(int set, int descriptor)
{
    epoll_ctl(set, EPOLL_CTL_DEL, descriptor, NULL);
}

int cproc_ready_take(int set, cproc_ready *ready)
{
    struct epoll_event events[CPROC_READY_LIMIT];
    int count = epoll_wait(set, events, CPROC_READY_LIMIT, 0);
    for (int i = 0; i < count; i++)
        ready[i] = (cproc_ready){ .tag = events[i].data.u64, .events = events[i].events };
    return count < 0 ? 0 : count;
}
