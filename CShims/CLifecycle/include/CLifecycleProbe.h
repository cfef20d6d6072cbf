/* Sockets as a probe needs them: does somebody accept connections there? Results: >= 0, or a
 * negated errno. */
#ifndef CLIFECYCLE_PROBE_H
#define CLIFECYCLE_PROBE_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __clang__
#pragma clang assume_nonnull begin
#endif

/* The addresses of one name that are tried. */
#define CLC_ADDRESSES_MAX 8

/* A socket address of the internet, as the kernel wants it. */
struct clc_address {
    uint8_t bytes[28];
    uint32_t length;
};

/* What a name stands for. */
struct clc_addresses {
    struct clc_address list[CLC_ADDRESSES_MAX];
    int count;
    /* Why there is none: an error of getaddrinfo, for clc_lookup_text. */
    int failure;
};

/* Finds the addresses of `host`. Without `lookup` only numeric hosts and `localhost` are known, and
 * nothing waits; with it the call may wait for a name server for as long as the resolver is set up
 * to. */
void clc_find_addresses(const char *host, uint16_t port, bool lookup,
                        struct clc_addresses *addresses);
/* The words for a failure of clc_find_addresses. */
const char *clc_lookup_text(int failure);
/* Begins to connect without waiting: the descriptor, writable once the outcome is known. */
int clc_begin_connect(const struct clc_address *address);
/* The outcome: 0 for a connection to somebody else, else a negated errno. A socket can connect to
 * itself where nobody listens on a port of the ephemeral range; that is -ECONNREFUSED here. */
int clc_connect_outcome(int descriptor);
/* Whether the Unix socket at `path` (or `@name`) takes connections, of whatever type it is: 0, or a
 * negated errno; -EAGAIN where its queue is full. Never waits. */
int clc_try_unix(const char *path);

#ifdef __clang__
#pragma clang assume_nonnull end
#endif
#endif
