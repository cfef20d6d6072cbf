#include "internal.h"

#include <errno.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef __WNOTHREAD
#define __WNOTHREAD 0x20000000
#endif

static int wait_for(idtype_t type, pid_t pid, int options, cproc_exit *status)
{
    siginfo_t info;
    for (;;) {
        memset(&info, 0, sizeof info);
        if (waitid(type, (id_t)pid, &info, WEXITED | WNOHANG | options) == 0) break;
        if (errno != EINTR) return errno;
    }
    if (info.si_pid == 0) return EAGAIN;
    status->pid = info.si_pid;
    status->value = info.si_status;
    status->by_signal = info.si_code != CLD_EXITED;
    status->dumped_core = info.si_code == CLD_DUMPED;
    return 0;
}

int cproc_peek(pid_t pid, cproc_exit *status)
{
    return pid > 0 ? wait_for(P_PID, pid, WNOWAIT, status) : ECHILD;
}

int cproc_reap(pid_t pid, cproc_exit *status)
{
    return pid > 0 ? wait_for(P_PID, pid, 0, status) : ECHILD;
}

int cproc_reap_stranger(cproc_exit *status) { return wait_for(P_ALL, 0, __WNOTHREAD, status); }

int cproc_pidfd_open(pid_t pid)
{
    if (pid <= 0) return -ESRCH;
    int descriptor = (int)syscall(SYS_pidfd_open, pid, 0); /* close-on-exec by itself */
    return descriptor >= 0 ? descriptor : -errno;
}

int cproc_pidfd_signal(int pidfd, int32_t number)
{
    return syscall(SYS_pidfd_send_signal, pidfd, number, NULL, 0) == 0 ? 0 : errno;
}

/* 0, 1 and negative numbers mean something else to kill(2) than the caller does. */
int cproc_signal_group(pid_t leader, int32_t number)
{
    if (leader <= 1) return ESRCH;
    return kill(-leader, number) == 0 ? 0 : errno;
}

int cproc_signal_child(pid_t child, int32_t number)
{
    if (child <= 1) return ESRCH;
    return kill(child, number) == 0 ? 0 : errno;
}

pid_t cproc_group_of(pid_t pid)
{
    pid_t group = getpgid(pid);
    return group >= 0 ? group : -errno;
}
