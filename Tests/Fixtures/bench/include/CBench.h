// What the end-to-end tests need of the kernel and Swift cannot call: a launch with every oddity a
// caller can have, a pidfd, and a pseudo terminal.
#ifndef CBENCH_H
#define CBENCH_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#pragma clang assume_nonnull begin

// How a program is started.
struct cbench_launch {
    char *_Nullable const *_Nonnull arguments;   // NULL at the end; the first is a path
    char *_Nullable const *_Nonnull environment; // NULL at the end
    const char *directory;
    int standard[3];       // what becomes 0, 1 and 2; negative: closed
    int extra_from;        // kept open as extra_to; negative: none
    int extra_to;
    int64_t user;          // negative: ours
    int64_t group;
    bool owns_terminal;    // a session of its own, standard[0] its terminal
    bool owns_session;     // a session of its own, no terminal
    uint64_t ignored;      // bit n - 1: signal n is ignored
    uint64_t blocked;      // bit n - 1: signal n is blocked
    uint64_t descriptors;  // the limit on open files, soft and hard; 0: ours
    uint64_t file_size;    // the limit on the size of a file; 0: ours
};

// Starts it with nothing else inherited. The pid, or a negated errno of fork or exec.
pid_t cbench_start(const struct cbench_launch *launch);

// A descriptor that polls readable once the child `pid` ended, or a negated errno.
int cbench_pidfd(pid_t pid);

// Sends through a pidfd: never to a stranger. 0 or a negated errno.
int cbench_signal(int pidfd, int signal);

// Reaps the child behind the pidfd without waiting. True once it ended; then `code` is its exit
// code, or the number of the signal that killed it and `was_killed` is true.
bool cbench_reap(int pidfd, int *code, bool *was_killed);

// Opens a pseudo terminal owned by `user` unless that is negative. 0 or a negated errno.
int cbench_terminal(int *controller, int *terminal, int64_t user);

// A pipe, close-on-exec: ends[0] reads. 0 or -1 with errno.
int cbench_pipe(int *ends);

// Sets `tostop` on a terminal. 0 or a negated errno.
int cbench_stop_background_output(int terminal);

// A datagram socket bound to `path`, open to every user, close-on-exec, not blocking; or -errno.
int cbench_listen(const char *path);

// A listening stream socket at `path`, or a negated errno.
int cbench_serve(const char *path);

// A stream socket connected to `path`, or a negated errno.
int cbench_connect(const char *path);

// A TCP port of 127.0.0.1 that was free a moment ago, or a negated errno.
int cbench_free_port(void);

// Lets the process `pid` have no descriptor above `highest`, of what its hard limit allows. 0 or a
// negated errno.
int cbench_limit_descriptors(pid_t pid, uint64_t highest);

// Sends one datagram to the socket at `path`. 0 or a negated errno.
int cbench_send(const char *path, const char *text);

#pragma clang assume_nonnull end

#endif
