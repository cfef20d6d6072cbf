/* What a child does between its birth and its exec. It shares our memory and its thread's errno,
 * so it makes system calls only: the wrappers for identity in libc would change all of our threads,
 * others take locks. */
#include "internal.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static int close_range_call(unsigned low, unsigned high, unsigned flags)
{
    return (int)syscall(SYS_close_range, low, high, flags);
}

static void mark_one(unsigned number) { syscall(SYS_fcntl, number, F_SETFD, FD_CLOEXEC); }

/* For kernels without close_range: marks what /proc/self/fd lists. */
static void mark_listed(void)
{
    struct entry {
        uint64_t inode;
        int64_t offset;
        unsigned short length;
        unsigned char type;
        char name[];
    };
    _Alignas(struct entry) char buffer[4096];
    int listing = (int)syscall(SYS_openat, AT_FDCWD, "/proc/self/fd", O_RDONLY | O_DIRECTORY, 0);
    if (listing < 0) {
        for (unsigned number = 3; number < 65536; number++) mark_one(number);
        return;
    }
    long length;
    while ((length = syscall(SYS_getdents64, listing, buffer, sizeof buffer)) > 0) {
        for (long offset = 0; offset < length;) {
            const struct entry *entry = (const struct entry *)(const void *)(buffer + offset);
            unsigned number = 0;
            for (const char *digit = entry->name; *digit >= '0' && *digit <= '9'; digit++)
                number = number * 10 + (unsigned)(*digit - '0');
            if (number >= 3) mark_one(number);
            offset += entry->length;
        }
    }
    syscall(SYS_close, listing);
}

/* Leaves a table of our own with 0–2 and the kept range in it, the latter close-on-exec. */
static bool narrow_table(const cproc_child *child)
{
    if (child->shares_table) {
        /* First of all, and the only call that costs: it copies the table up to `keep_high`. */
        if (close_range_call(child->keep_high + 1, ~0u, CPROC_UNSHARE_TABLE) != 0) return false;
    } else if (close_range_call(child->keep_high + 1, ~0u, 0) != 0) {
        mark_listed();
        return true;
    }
    if (child->keep_low > 3) close_range_call(3, child->keep_low - 1, 0);
    if (close_range_call(child->keep_low, child->keep_high, CPROC_CLOSE_ON_EXEC) != 0)
        for (unsigned number = child->keep_low; number <= child->keep_high; number++)
            mark_one(number);
    return true;
}

/* Moves each source to its target. Sources are lifted above all targets first, so that none is
 * overwritten before its turn. */
static bool place_descriptors(cproc_child *child)
{
    int above = 3;
    for (size_t i = 0; i < child->descriptor_count; i++)
        if (child->targets[i] >= above) above = child->targets[i] + 1;
    for (size_t i = 0; i < child->descriptor_count; i++) {
        if (child->sources[i] >= above) continue;
        long lifted = syscall(SYS_fcntl, child->sources[i], F_DUPFD_CLOEXEC, above);
        if (lifted < 0) return false;
        child->sources[i] = (int)lifted;
    }
    for (size_t i = 0; i < child->descriptor_count; i++)
        if (syscall(SYS_dup3, child->sources[i], child->targets[i], 0) < 0) return false;
    return true;
}

static void reset_dispositions(void)
{
    /* The kernel's struct sigaction: a default handler, no flags, no mask. */
    static const unsigned long nothing[8];
    for (int number = 1; number <= 64; number++)
        if (number != SIGKILL && number != SIGSTOP)
            syscall(SYS_rt_sigaction, number, nothing, NULL, sizeof(uint64_t));
}

static bool set_limits(cproc_child *child)
{
    const cproc_order *order = child->order;
    if (syscall(SYS_prlimit64, 0, RLIMIT_NOFILE, &child->original_descriptors, NULL) != 0)
        return false;
    for (size_t i = 0; i < order->limit_count; i++) {
        const cproc_limit *each = &order->limits[i];
        if (syscall(SYS_prlimit64, 0, each->resource, &each->limit, NULL) != 0) return false;
    }
    if (!order->has_token) return true;
    /* Not worth a failed launch: the token is the third way to know a process. */
    struct rlimit mark;
    child->report.has_token =
        syscall(SYS_prlimit64, 0, RLIMIT_LOCKS, NULL, &mark) == 0 &&
        (mark.rlim_cur = (rlim_t)order->token) <= mark.rlim_max &&
        syscall(SYS_prlimit64, 0, RLIMIT_LOCKS, &mark, NULL) == 0;
    return true;
}

static bool become(const cproc_order *order, volatile int *step)
{
    *step = CPROC_STEP_GROUPS;
    if (syscall(SYS_setgroups, order->group_count, order->groups) != 0) return false;
    *step = CPROC_STEP_GROUP;
    if (syscall(SYS_setresgid, order->group, order->group, order->group) != 0) return false;
    *step = CPROC_STEP_USER;
    return syscall(SYS_setresuid, order->user, order->user, order->user) == 0;
}

static void write_pid(char *place, pid_t pid)
{
    char digits[12];
    int count = 0;
    for (; pid > 0; pid /= 10) digits[count++] = (char)('0' + pid % 10);
    while (count > 0) *place++ = digits[--count];
    *place = '\0';
}

/* Tries the candidates as a shell does: what is missing is passed over, and a refusal is
 * remembered in case nothing better comes. Returns only after a failure, with errno set. */
static void execute(cproc_child *child)
{
    const cproc_order *order = child->order;
    char *const nothing[] = { NULL };
    char **variables = order->variables.items;
    int refused = 0;
    for (size_t i = 0; i < order->candidates.count; i++) {
        syscall(SYS_execve, order->candidates.items[i], order->arguments.items,
                variables != NULL ? variables : nothing);
        switch (errno) {
        case EACCES:
            if (refused == 0) child->report.candidate = i;
            refused = EACCES;
            break;
        case ENOENT: case ENOTDIR: case ENODEV: case ESTALE: case ETIMEDOUT:
            break;
        default:
            child->report.candidate = i;
            return;
        }
    }
    if (refused != 0) errno = refused;
}

static bool prepare(cproc_child *child)
{
    const cproc_order *order = child->order;
    volatile int *step = &child->report.step;
    *step = CPROC_STEP_DESCRIPTORS;
    if (!narrow_table(child)) return false;
    *step = CPROC_STEP_SESSION;
    if (syscall(SYS_setsid) < 0) return false;
    *step = CPROC_STEP_SIGNALS;
    reset_dispositions();
    *step = CPROC_STEP_DESCRIPTORS;
    if (!place_descriptors(child)) return false;
    *step = CPROC_STEP_LIMITS;
    if (!set_limits(child)) return false;
    *step = CPROC_STEP_NICE;
    if (order->has_nice && syscall(SYS_setpriority, PRIO_PROCESS, 0, order->nice) != 0)
        return false;
    if (order->has_umask) syscall(SYS_umask, order->mask);
    if (order->has_identity && !become(order, step)) return false;
    *step = CPROC_STEP_SIGNALS; /* a change of user clears the parent-death signal */
    if (order->death_signal != 0 &&
        syscall(SYS_prctl, PR_SET_PDEATHSIG, order->death_signal, 0, 0, 0) != 0)
        return false;
    *step = CPROC_STEP_DIRECTORY; /* as the user, who may see what we may not, and the reverse */
    return order->directory == NULL || syscall(SYS_chdir, order->directory) == 0;
}

int cproc_child_main(void *argument)
{
    cproc_child *child = argument;
    if (prepare(child)) {
        pid_t self = (pid_t)syscall(SYS_getpid);
        for (size_t i = 0; i < child->order->pid_value_count; i++)
            write_pid(child->order->pid_values[i], self);
        child->report.step = CPROC_STEP_EXEC;
        const uint64_t none = 0;
        syscall(SYS_rt_sigprocmask, SIG_SETMASK, &none, NULL, sizeof none);
        if (atomic_load(child->cancelled)) errno = ECANCELED;
        else execute(child);
    }
    child->report.error = errno;
    syscall(SYS_exit_group, 127);
    return 127;
}
