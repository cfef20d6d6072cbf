/* Making a child that shares our memory, on a stack of its own. The child must not touch malloc,
 * locks or stdio: other threads may hold them, and it runs in their memory. */
#include "internal.h"

#include <errno.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define CLEAR_SIGHAND 0x100000000ULL
#define INTO_CGROUP 0x200000000ULL

/* `struct clone_args`, whose header clashes with <sched.h> on some systems. */
typedef struct {
    uint64_t flags, pidfd, child_tid, parent_tid, exit_signal, stack, stack_size, tls;
    uint64_t set_tid, set_tid_size, cgroup;
} clone_arguments;

int cproc_stack_make(cproc_stack *stack)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    stack->size = 64 * 1024;
    /* A page that cannot be touched lies below: an overflow ends the child, not our memory. */
    char *memory = mmap(
        NULL, stack->size + page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
    if (memory == MAP_FAILED) return errno;
    if (mprotect(memory + page, stack->size, PROT_READ | PROT_WRITE) != 0) {
        int error = errno;
        munmap(memory, stack->size + page);
        return error;
    }
    stack->base = memory + page;
    return 0;
}

/* The child starts behind the system call with our registers and an empty stack, so everything up
 * to its exit must stay in registers: a compiler cannot be told that, hence the assembly. */
#if defined(__x86_64__)
#define HAS_CLONE3 1
static long clone3_call(
    const clone_arguments *arguments, size_t size, cproc_entry entry, void *argument)
{
    long result;
    __asm__ volatile(
        "syscall\n\t"
        "testq %%rax, %%rax\n\t"
        "jnz 1f\n\t"
        "xorl %%ebp, %%ebp\n\t" /* the outermost frame, for debuggers */
        "movq %[argument], %%rdi\n\t"
        "callq *%[entry]\n\t"
        "movl %%eax, %%edi\n\t"
        "movl %[exit], %%eax\n\t"
        "syscall\n\t"
        "hlt\n"
        "1:\n"
        : "=a"(result)
        : "a"((long)SYS_clone3), "D"(arguments), "S"(size), [entry] "r"(entry),
          [argument] "r"(argument), [exit] "i"(SYS_exit)
        : "rcx", "r11", "cc", "memory");
    return result;
}
#elif defined(__aarch64__)
#define HAS_CLONE3 1
static long clone3_call(
    const clone_arguments *arguments, size_t size, cproc_entry entry, void *argument)
{
    register long x0 __asm__("x0") = (long)arguments;
    register long x1 __asm__("x1") = (long)size;
    register long x8 __asm__("x8") = SYS_clone3;
    __asm__ volatile(
        "svc #0\n\t"
        "cbnz x0, 1f\n\t"
        "mov x29, xzr\n\t"
        "mov x0, %[argument]\n\t"
        "blr %[entry]\n\t"
        "mov x8, %[exit]\n\t"
        "svc #0\n\t"
        "brk #1\n"
        "1:\n"
        : "+r"(x0)
        : "r"(x1), "r"(x8), [entry] "r"(entry), [argument] "r"(argument), [exit] "i"(SYS_exit)
        : "cc", "memory");
    return x0;
}
#else
#define HAS_CLONE3 0
static long clone3_call(
    const clone_arguments *arguments, size_t size, cproc_entry entry, void *argument)
{
    return -ENOSYS;
}
#endif

pid_t cproc_clone(
    const cproc_features *features, const cproc_stack *stack, int cgroup, cproc_entry entry,
    void *argument, atomic_int *pidfd)
{
    unsigned flags = CLONE_VM | CLONE_VFORK | CLONE_PIDFD;
    if (features->shared_table) flags |= CLONE_FILES;
    atomic_store(pidfd, -1);
    if (!HAS_CLONE3 || !features->clone3) {
        if (cgroup >= 0) return -EOPNOTSUPP;
        /* The child resets our handlers itself, before it lets any signal in. */
        pid_t pid = clone(
            entry, stack->base + stack->size, (int)(flags | SIGCHLD), argument, (int *)pidfd);
        if (pid >= 0) return pid;
        atomic_store(pidfd, -1);
        return -errno;
    }
    clone_arguments arguments = {
        .flags = flags | CLEAR_SIGHAND | (cgroup >= 0 ? INTO_CGROUP : 0),
        .pidfd = (uint64_t)(uintptr_t)pidfd,
        .exit_signal = SIGCHLD,
        .stack = (uint64_t)(uintptr_t)stack->base,
        .stack_size = stack->size,
        .cgroup = cgroup >= 0 ? (uint64_t)cgroup : 0,
    };
    long pid = clone3_call(&arguments, sizeof arguments, entry, argument);
    /* The kernel says the number before the last of its checks: then somebody else's is next. */
    if (pid < 0) atomic_store(pidfd, -1);
    return (pid_t)pid;
}
