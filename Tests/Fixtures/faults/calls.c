// The calls that can be made to fail, and when such a failure is one that a kernel would answer.
#define _GNU_SOURCE
#include "calls.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

// Old calls that not every machine has.
#ifndef SYS_open
#define SYS_open -1
#endif
#ifndef SYS_pipe
#define SYS_pipe -1
#endif
#ifndef SYS_mkdir
#define SYS_mkdir -1
#endif
#ifndef SYS_rename
#define SYS_rename -1
#endif
#ifndef SYS_fork
#define SYS_fork -1
#endif

const struct kind kinds[] = {
    {"clone", EAGAIN, -1, ANY, {SYS_clone3, SYS_clone, SYS_fork, -1}},
    {"execve", ENOMEM, 0, ANY, {SYS_execve, -1}},
    {"open", EMFILE, 1, ANY, {SYS_openat, SYS_open, -1}},
    {"pipe", EMFILE, -1, ANY, {SYS_pipe2, SYS_pipe, -1}},
    {"socket", EMFILE, -1, ANY, {SYS_socket, SYS_socketpair, -1}},
    {"accept", EMFILE, -1, ANY, {SYS_accept4, SYS_accept, -1}},
    {"bind", ENOSPC, -1, ANY, {SYS_bind, -1}},
    {"listen", EADDRINUSE, -1, ANY, {SYS_listen, -1}},
    {"connect", EAGAIN, -1, ANY, {SYS_connect, -1}},
    {"send", ENOBUFS, -1, ANY, {SYS_sendto, SYS_sendmsg, -1}},
    {"receive", ENOMEM, -1, ANY, {SYS_recvfrom, SYS_recvmsg, -1}},
    {"eventfd", EMFILE, -1, ANY, {SYS_eventfd2, -1}},
    {"timerfd", EMFILE, -1, ANY, {SYS_timerfd_create, -1}},
    {"pidfd", EMFILE, -1, ANY, {SYS_pidfd_open, -1}},
    {"epoll", EMFILE, -1, ANY, {SYS_epoll_create1, -1}},
    {"watch", ENOSPC, -1, NEW_WATCH, {SYS_epoll_ctl, -1}},
    {"duplicate", EMFILE, -1, NEW_DESCRIPTOR, {SYS_fcntl, -1}},
    {"write", ENOSPC, -1, FILES_ONLY, {SYS_write, SYS_writev, SYS_pwrite64, -1}},
    {"read", EIO, -1, FILES_ONLY, {SYS_read, SYS_readv, SYS_pread64, -1}},
    {"list", EIO, -1, ANY, {SYS_getdents64, -1}},
    {"sync", EIO, -1, ANY, {SYS_fsync, SYS_fdatasync, -1}},
    {"rename", EIO, 1, ANY, {SYS_renameat, SYS_renameat2, SYS_rename, -1}},
    {"mkdir", ENOSPC, 1, ANY, {SYS_mkdirat, SYS_mkdir, -1}},
    {"lock", ENOLCK, -1, ANY, {SYS_flock, -1}},
    {"memory", ENOMEM, -1, ANY, {SYS_mmap, -1}},
    {"limit", EPERM, -1, ANY, {SYS_prlimit64, -1}},
    {"chdir", EACCES, 0, ANY, {SYS_chdir, -1}},
};
const size_t kind_count = sizeof kinds / sizeof *kinds;

const struct kind *kind_named(const char *name) {
    for (size_t place = 0; place < kind_count; place++) {
        if (strcmp(kinds[place].name, name) == 0) return &kinds[place];
    }
    return NULL;
}

// A write to a pipe or an event's counter never meets a full disk.
static bool is_file(pid_t thread, int number) {
    char path[64];
    struct stat status;
    snprintf(path, sizeof path, "/proc/%d/fd/%d", thread, number);
    return stat(path, &status) == 0 && S_ISREG(status.st_mode);
}

// What is watched already is found before any room is looked for.
static bool is_watched(pid_t thread, int poll, int number) {
    char path[64], line[256];
    snprintf(path, sizeof path, "/proc/%d/fdinfo/%d", thread, poll);
    FILE *file = fopen(path, "re");
    if (file == NULL) return false;
    bool found = false;
    int target;
    while (!found && fgets(line, sizeof line, file) != NULL) {
        found = sscanf(line, "tfd: %d", &target) == 1 && target == number;
    }
    fclose(file);
    return found;
}

bool counts(const struct kind *kind, pid_t thread, const unsigned long long arguments[6]) {
    int first = (int)arguments[0], second = (int)arguments[1];
    switch (kind->scope) {
    case ANY: return true;
    case FILES_ONLY: return is_file(thread, first);
    case NEW_DESCRIPTOR: return second == F_DUPFD || second == F_DUPFD_CLOEXEC;
    case NEW_WATCH:
        return second == EPOLL_CTL_ADD && !is_watched(thread, first, (int)arguments[2]);
    }
    return false;
}
