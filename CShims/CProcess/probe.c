/* Finding out what the kernel grants, once, by trying it. */
#include "spawner.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef __WNOTHREAD
#define __WNOTHREAD 0x20000000
#endif

int cproc_reserve(int count)
{
    enum { attempts = 4096 };
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    if (null < 0) return -errno;
    int low = 3, have = 0, error = 0;
    for (int i = 0; i < attempts && have < count && error == 0; i++) {
        int number = fcntl(null, F_DUPFD_CLOEXEC, low + have);
        if (number < 0) { /* a number beyond the limit is EINVAL */
            error = errno == EINVAL ? EMFILE : errno;
        } else if (number == low + have) {
            have++;
        } else { /* somebody's descriptor is in the way: start again behind it */
            while (have > 0) close(low + --have);
            close(number);
            low = number;
        }
    }
    close(null);
    if (have == count) return low;
    while (have > 0) close(low + --have);
    return error != 0 ? -error : -EMFILE;
}

/* Un-shares the table as a launch does, leaves an orphan and ends. */
static int probe_main(void *argument)
{
    cproc_child *child = argument;
    if (child->shares_table &&
        syscall(SYS_close_range, child->keep_high + 1, ~0u, CPROC_UNSHARE_TABLE) != 0)
        child->report.error = errno;
    if (child->report.error == 0) {
#if defined(__s390x__) || defined(__CRIS__)
        long orphan = syscall(SYS_clone, 0, SIGCHLD, 0, 0, 0);
#else
        long orphan = syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
#endif
        if (orphan == 0) { /* a real copy of us, with memory of its own */
            char end;
            for (int i = 0; i < 2; i++) syscall(SYS_close, child->probe_write[i]);
            syscall(SYS_read, child->probe_read, &end, 1);
            syscall(SYS_exit_group, 0);
        }
        child->probe_orphan = orphan > 0 ? (pid_t)orphan : 0;
    }
    syscall(SYS_exit_group, 0);
    return 0;
}

/* One attempt with the features as they are. 0, an error of the clone, or minus the child's. */
static int attempt(cproc_worker *worker)
{
    cproc_spawner *spawner = worker->spawner;
    cproc_child child = {
        .keep_high = (unsigned)(worker->slot_low + worker->slot_count - 1),
        .shares_table = spawner->features.shared_table,
        .probe_read = worker->slot_low + 1,
        .probe_write = { worker->slot_low + 2, spawner->orphan_pipe[1] },
    };
    atomic_int pidfd = -1;
    pid_t pid =
        cproc_clone(&spawner->features, &worker->stack, -1, probe_main, &child, &pidfd);
    if (pid < 0) return -pid;
    siginfo_t info;
    while (waitid(P_PID, (id_t)pid, &info, WEXITED) != 0 && errno == EINTR) {}
    if (pidfd < 0) return ENOSYS;
    /* CLONE_PIDFD is older than pidfd_open and than a pidfd that can be polled. */
    int own = cproc_pidfd_open(getpid());
    if (own >= 0) close(own);
    close(pidfd);
    if (own < 0) return -own;
    spawner->orphan = child.probe_orphan;
    return -child.report.error;
}

static int try_downwards(cproc_worker *worker)
{
    cproc_features *features = &worker->spawner->features;
    int result = attempt(worker);
    if (result == EMFILE || result == ENFILE || result == EAGAIN || result == ENOMEM)
        return result; /* says nothing about what the kernel knows */
    if (result > 0 && features->clone3) { /* too old, or a filter that does not know it */
        features->clone3 = false;
        result = attempt(worker);
    }
    if (result < 0) {
        features->shared_table = false;
        result = attempt(worker);
    }
    return result;
}

int cproc_probe(cproc_worker *worker)
{
    cproc_spawner *spawner = worker->spawner;
    cproc_features *features = &spawner->features;
    features->clone3 = (spawner->without & CPROC_WITHOUT_CLONE3) == 0;
    features->shared_table = (spawner->without & CPROC_WITHOUT_SHARED_TABLE) == 0;
    if (pipe2(spawner->orphan_pipe, O_CLOEXEC) != 0) return errno;
    for (int end = 0; end < 2; end++)
        if (dup3(spawner->orphan_pipe[end], worker->slot_low + 1 + end, O_CLOEXEC) < 0)
            return errno;
    int error = try_downwards(worker);
    for (int end = 0; end < 2; end++) {
        dup3(worker->slot_low, worker->slot_low + 1 + end, O_CLOEXEC);
        /* The orphan waits for the end of the pipe; the writing end closes after it is seen. */
        if (end == 0 || error != 0) close(spawner->orphan_pipe[end]);
    }
    /* close_range came with 5.9, births in a cgroup with 5.7. */
    features->into_cgroup = error == 0 && features->clone3 && features->shared_table;
    return error;
}

void cproc_check_orphan(cproc_spawner *spawner)
{
    enum { most = 4096 };
    pid_t children[most];
    cproc_features *features = &spawner->features;
    ssize_t count = cproc_thread_children(getpid(), children, most);
    bool listed = false;
    for (ssize_t i = 0; i < count && i < most; i++) listed |= children[i] == spawner->orphan;
    if (spawner->without & CPROC_WITHOUT_CHILD_LISTS) listed = false;
    close(spawner->orphan_pipe[1]); /* the orphan ends */
    if (spawner->orphan <= 0) return;
    siginfo_t info;
    int waited;
    do waited = waitid(P_PID, (id_t)spawner->orphan, &info, WEXITED | __WNOTHREAD);
    while (waited != 0 && errno == EINTR);
    features->main_reaps = waited == 0 && cproc_is_main_thread() &&
                           (spawner->without & CPROC_WITHOUT_MAIN_REAPS) == 0;
    if (waited != 0) /* the child of another thread of ours, or of another process */
        while (waitid(P_PID, (id_t)spawner->orphan, &info, WEXITED) != 0 && errno == EINTR) {}
    /* Without the list of the main thread, lists of others are no help either: one rule. */
    features->child_lists = listed;
}
