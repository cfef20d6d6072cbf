/* The other end of CLifecycle.h: sockets and datagrams as the orchestrator needs them. A daemon
 * does not need this header. Results: >= 0, or a negated errno. */
#ifndef CLIFECYCLE_ENGINE_H
#define CLIFECYCLE_ENGINE_H

#include "CLifecycle.h"
#include <sys/types.h>

#ifdef __clang__
#pragma clang assume_nonnull begin
#endif

/* A datagram as the kernel handed it over. */
struct clc_datagram {
    /* Into a buffer of the calling thread; valid until its next clc_receive. */
    const void *CLC_NULLABLE bytes;
    size_t length;
    /* It was longer than CLC_DATAGRAM_MAX; the rest is lost. */
    bool truncated;
    /* Nobody holds the other end of the channel any more. Nothing else is set then. */
    bool ended;
    /* The sender, by the kernel's word. 0 where it is out of our sight (another pid namespace). */
    pid_t pid;
    uid_t uid;
    /* The descriptors that came along. They are closed already: nobody may make us hold one, and a
     * closed descriptor is the answer to BARRIER=1. */
    int descriptors;
};

/* Makes a datagram socket at `path`: close-on-exec, non-blocking, credentials on every message,
 * mode 0600 from birth, owned by `owner`. -ENAMETOOLONG beyond CLC_PATH_MAX bytes, since the kernel
 * would bind a shortened name; -EADDRINUSE where something is in the way. Nothing is left on
 * failure. */
int clc_bind_notify(const char *path, uid_t owner);
/* Makes a control channel. Both ends are close-on-exec; only the parent's is non-blocking. */
int clc_make_channel(int *parent, int *child);
/* Takes the next datagram without waiting: 1, 0 when there is none, or a negated errno. */
int clc_receive(int socket, struct clc_datagram *datagram);
/* The time of MONOTONIC_USEC, which a manager wants beside RELOADING=1. */
uint64_t clc_monotonic_microseconds(void);
/* Whether the process has ended: it is gone, or a zombie. False also where that cannot be told. */
bool clc_has_ended(pid_t pid);

#ifdef __clang__
#pragma clang assume_nonnull end
#endif
#endif
