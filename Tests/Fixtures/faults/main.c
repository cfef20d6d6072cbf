// faults: makes the N-th call of a kind fail in a program, as its kernel would.
//
//   faults KIND N once|on REPORT OVER PROGRAM [ARGUMENT]…
//
// N = 0 fails nothing and counts. `on` fails the N-th call and all later ones until a file OVER
// exists. REPORT gets one line `COUNT FIRED`, always up to date, and REPORT.log a line for each
// call that failed. Without arguments: the kinds.
//
// It works at the gate itself: a filter of system calls (seccomp) hands each call of the kind to a
// supervisor beside the program, which fails it or lets it go on. So nothing of the program is
// replaced, and calls of its libraries and of its children before their exec count as its own. What
// the loader does before the program begins does not count, nor what its children run.
#define _GNU_SOURCE
#include "calls.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV
#define SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV (1UL << 5)
#endif

// The socket the listener is handed over by; no program of ours has so many descriptors.
static const int hand = 900;

static struct {
    const struct kind *kind;
    unsigned long at;
    bool goes_on;
    const char *report, *over;
    char program[PATH_MAX];
    // Where the loader lies in the program, from its first call on.
    unsigned long long loader_begin, loader_end;
    unsigned long count, fired;
    int report_file, log_file;
} plan;

static void fail(const char *words) {
    fprintf(stderr, "faults: cannot %s: %s\n", words, strerror(errno));
    _exit(125);
}

// Hands each call of the kind to whoever holds the descriptor returned.
static int install(const struct kind *kind) {
    struct sock_filter code[16];
    unsigned short length = 0, numbers = 0;
    while (kind->numbers[numbers] >= 0) numbers++;
    code[length++] = (struct sock_filter)BPF_STMT(
        BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
    for (unsigned short place = 0; place < numbers; place++) {
        code[length++] = (struct sock_filter)BPF_JUMP(
            BPF_JMP | BPF_JEQ | BPF_K, (unsigned)kind->numbers[place],
            (unsigned char)(numbers - place), 0);
    }
    code[length++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    // The handing over itself must not wait for whom it hands over to.
    code[length++] = (struct sock_filter)BPF_STMT(
        BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[0]));
    code[length++] = (struct sock_filter)BPF_JUMP(
        BPF_JMP | BPF_JEQ | BPF_K, (unsigned)hand, 0, 1);
    code[length++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    code[length++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF);
    struct sock_fprog filter = {.len = length, .filter = code};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return -1;
    // A signal must not have a call come twice.
    return (int)syscall(
        SYS_seccomp, SECCOMP_SET_MODE_FILTER,
        SECCOMP_FILTER_FLAG_NEW_LISTENER | SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV, &filter);
}

static void hand_over(int descriptor) {
    char space[CMSG_SPACE(sizeof descriptor)] = {0}, byte = 0;
    struct iovec part = {.iov_base = &byte, .iov_len = 1};
    struct msghdr message = {
        .msg_iov = &part, .msg_iovlen = 1, .msg_control = space, .msg_controllen = sizeof space};
    struct cmsghdr *header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof descriptor);
    memcpy(CMSG_DATA(header), &descriptor, sizeof descriptor);
    if (sendmsg(hand, &message, 0) != 1) fail("hand the filter over");
}

static int take_over(int socket) {
    char space[CMSG_SPACE(sizeof(int))], byte;
    struct iovec part = {.iov_base = &byte, .iov_len = 1};
    struct msghdr message = {
        .msg_iov = &part, .msg_iovlen = 1, .msg_control = space, .msg_controllen = sizeof space};
    int descriptor = -1;
    if (recvmsg(socket, &message, MSG_CMSG_CLOEXEC) != 1) return -1;
    struct cmsghdr *header = CMSG_FIRSTHDR(&message);
    if (header != NULL) memcpy(&descriptor, CMSG_DATA(header), sizeof descriptor);
    return descriptor;
}

// Whether the thread runs the program, as which its children run until they exec.
static bool runs_program(pid_t thread) {
    char path[64], target[PATH_MAX];
    snprintf(path, sizeof path, "/proc/%d/exe", thread);
    ssize_t length = readlink(path, target, sizeof target - 1);
    if (length < 0) return false;
    target[length] = '\0';
    return strcmp(target, plan.program) == 0;
}

static void find_loader(pid_t thread) {
    char path[64], line[512];
    snprintf(path, sizeof path, "/proc/%d/maps", thread);
    FILE *file = fopen(path, "re");
    while (file != NULL && fgets(line, sizeof line, file) != NULL) {
        unsigned long long begin, end;
        if (strstr(line, "/ld-") == NULL) continue;
        if (sscanf(line, "%llx-%llx", &begin, &end) != 2) continue;
        if (plan.loader_begin == 0) plan.loader_begin = begin;
        plan.loader_end = end;
    }
    if (file != NULL) fclose(file);
}

static void note(pid_t thread, const struct seccomp_data *call) {
    char path[PATH_MAX] = "", line[PATH_MAX + 128];
    if (plan.kind->path >= 0) {
        unsigned long long place = call->args[plan.kind->path];
        struct iovec ours = {.iov_base = path, .iov_len = 255};
        struct iovec theirs = {.iov_base = (void *)(uintptr_t)place, .iov_len = 255};
        while (theirs.iov_len > 0 &&
               process_vm_readv(thread, &ours, 1, &theirs, 1, 0) <= 0) theirs.iov_len /= 2;
    }
    int length = snprintf(
        line, sizeof line, "%lu: call %d (%lld, %lld, %lld) of thread %d %s\n", plan.count,
        call->nr, (long long)call->args[0], (long long)call->args[1], (long long)call->args[2],
        thread, path);
    if (length > 0 && write(plan.log_file, line, (size_t)length) < 0) return;
}

// Whether this call is to fail.
static bool takes(const struct seccomp_notif *notice) {
    const struct seccomp_data *call = &notice->data;
    pid_t thread = (pid_t)notice->pid;
    if (!runs_program(thread)) return false;
    if (plan.loader_end == 0) find_loader(thread);
    unsigned long long from = call->instruction_pointer;
    if (from >= plan.loader_begin && from < plan.loader_end) return false;
    if (!counts(plan.kind, thread, (const unsigned long long *)call->args)) return false;
    plan.count++;
    bool is_due = plan.at > 0 && (plan.goes_on ? plan.count >= plan.at : plan.count == plan.at);
    if (is_due && access(plan.over, F_OK) == 0) is_due = false;
    if (is_due) {
        plan.fired++;
        if (plan.fired <= 100) note(thread, call);
    }
    char line[64];
    int length = snprintf(line, sizeof line, "%lu %lu\n", plan.count, plan.fired);
    if (pwrite(plan.report_file, line, (size_t)length, 0) != length) return is_due;
    return is_due;
}

static void supervise(int listener) {
    struct seccomp_notif notice;
    struct seccomp_notif_resp answer;
    struct pollfd news = {.fd = listener, .events = POLLIN};
    while (true) {
        if (poll(&news, 1, -1) < 0 && errno != EINTR) return;
        // Nobody is left who runs under the filter.
        if (news.revents & (POLLHUP | POLLERR)) return;
        memset(&notice, 0, sizeof notice);
        if (ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, &notice) != 0) continue;
        memset(&answer, 0, sizeof answer);
        answer.id = notice.id;
        if (takes(&notice)) answer.error = -plan.kind->error;
        else answer.flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE;
        ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &answer);
    }
}

// The supervisor is nobody's child and holds nothing of the program's.
static void become_supervisor(int socket) {
    if (fork() != 0) _exit(0);
    setsid();
    int nowhere = open("/dev/null", O_RDWR | O_CLOEXEC);
    for (int number = 0; number < 3; number++) dup2(nowhere, number);
    if (chdir("/") != 0) _exit(125);
    int listener = take_over(socket);
    close(socket);
    if (listener >= 0) supervise(listener);
    _exit(0);
}

static int create(const char *path, const char *suffix) {
    char whole[PATH_MAX];
    snprintf(whole, sizeof whole, "%s%s", path, suffix);
    int file = open(whole, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (file < 0) fail("write the report");
    return file;
}

int main(int count, char **arguments) {
    if (count == 1) {
        for (size_t place = 0; place < kind_count; place++) puts(kinds[place].name);
        return 0;
    }
    if (count < 7 || (plan.kind = kind_named(arguments[1])) == NULL) {
        fprintf(stderr, "usage: faults KIND N once|on REPORT OVER PROGRAM [ARGUMENT]...\n");
        return 64;
    }
    plan.at = strtoul(arguments[2], NULL, 10);
    plan.goes_on = strcmp(arguments[3], "on") == 0;
    plan.report = arguments[4];
    plan.over = arguments[5];
    if (realpath(arguments[6], plan.program) == NULL) fail("find the program");
    plan.report_file = create(plan.report, "");
    plan.log_file = create(plan.report, ".log");
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) fail("make a socket");
    if (dup3(ends[0], hand, O_CLOEXEC) != hand) fail("place a socket");
    close(ends[0]);
    pid_t between = fork();
    if (between < 0) fail("make a supervisor");
    if (between == 0) {
        close(hand);
        become_supervisor(ends[1]);
    }
    waitpid(between, NULL, 0);
    close(ends[1]);
    int listener = install(plan.kind);
    if (listener < 0) fail("install the filter");
    hand_over(listener);
    execv(arguments[6], arguments + 6);
    fail("run the program");
}
