#define _GNU_SOURCE
#include "CBench.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <netinet/in.h>
#include <pty.h>
#include <signal.h>
#include <string.h>
#include <stddef.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

// Moves what becomes 0 to 2 out of the way first, so that no source is overwritten.
static void place_standard(const int standard[3]) {
    int moved[3];
    for (int number = 0; number < 3; number++) {
        moved[number] = standard[number] < 0 ? -1 : fcntl(standard[number], F_DUPFD_CLOEXEC, 300);
    }
    for (int number = 0; number < 3; number++) {
        if (moved[number] < 0) close(number);
        else dup2(moved[number], number);
    }
}

static void set_signals(const struct cbench_launch *launch) {
    sigset_t blocked;
    sigemptyset(&blocked);
    for (int number = 1; number < 65; number++) {
        uint64_t bit = 1ull << (number - 1);
        if (launch->blocked & bit) sigaddset(&blocked, number);
        if (number == SIGKILL || number == SIGSTOP || number == 32 || number == 33) continue;
        signal(number, launch->ignored & bit ? SIG_IGN : SIG_DFL);
    }
    sigprocmask(SIG_SETMASK, &blocked, NULL);
}

static bool set_limit(__rlimit_resource_t resource, uint64_t value) {
    struct rlimit limit = {.rlim_cur = value, .rlim_max = value};
    return value == 0 || setrlimit(resource, &limit) == 0;
}

// Runs in the child. Returns only on failure.
static void become(const struct cbench_launch *launch) {
    if (launch->owns_terminal || launch->owns_session) setsid();
    else setpgid(0, 0);
    place_standard(launch->standard);
    if (launch->owns_terminal && ioctl(0, TIOCSCTTY, 0) != 0) return;
    close_range(3, ~0u, CLOSE_RANGE_CLOEXEC);
    if (launch->extra_from >= 0) {
        if (launch->extra_from == launch->extra_to) fcntl(launch->extra_to, F_SETFD, 0);
        else dup2(launch->extra_from, launch->extra_to);
    }
    if (launch->group >= 0) {
        gid_t group = (gid_t)launch->group;
        if (setgroups(0, NULL) != 0 || setresgid(group, group, group) != 0) return;
    }
    uid_t user = (uid_t)launch->user;
    if (launch->user >= 0 && setresuid(user, user, user) != 0) return;
    if (chdir(launch->directory) != 0) return;
    if (!set_limit(RLIMIT_NOFILE, launch->descriptors)) return;
    if (!set_limit(RLIMIT_FSIZE, launch->file_size)) return;
    set_signals(launch);
    execve(launch->arguments[0], launch->arguments, launch->environment);
}

pid_t cbench_start(const struct cbench_launch *launch) {
    int failure[2];
    if (pipe2(failure, O_CLOEXEC) != 0) return -errno;
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    pid_t child = fork();
    if (child == 0) {
        int report = fcntl(failure[1], F_DUPFD_CLOEXEC, 310);
        become(launch);
        int number = errno;
        ssize_t ignored = write(report, &number, sizeof number);
        (void)ignored;
        _exit(127);
    }
    int fork_failure = errno;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    close(failure[1]);
    int number = 0;
    ssize_t count = child < 0 ? 0 : read(failure[0], &number, sizeof number);
    close(failure[0]);
    if (child < 0) return -fork_failure;
    if (count == 0) return child;
    waitpid(child, NULL, 0);
    return -number;
}

int cbench_pidfd(pid_t pid) {
    int descriptor = (int)syscall(SYS_pidfd_open, pid, 0);
    return descriptor < 0 ? -errno : descriptor;
}

int cbench_signal(int pidfd, int signal) {
    return syscall(SYS_pidfd_send_signal, pidfd, signal, NULL, 0) < 0 ? -errno : 0;
}

bool cbench_reap(int pidfd, int *code, bool *was_killed) {
    siginfo_t info = {0};
    if (waitid((idtype_t)P_PIDFD, (id_t)pidfd, &info, WEXITED | WNOHANG) != 0) return false;
    if (info.si_pid == 0) return false;
    *code = info.si_status;
    *was_killed = info.si_code != CLD_EXITED;
    return true;
}

int cbench_terminal(int *controller, int *terminal, int64_t user) {
    if (openpty(controller, terminal, NULL, NULL, NULL) != 0) return -errno;
    fcntl(*controller, F_SETFD, FD_CLOEXEC);
    fcntl(*terminal, F_SETFD, FD_CLOEXEC);
    fcntl(*controller, F_SETFL, O_NONBLOCK);
    if (user >= 0 && fchown(*terminal, (uid_t)user, (gid_t)-1) != 0) return -errno;
    return 0;
}

int cbench_pipe(int *ends) {
    return pipe2(ends, O_CLOEXEC);
}

int cbench_stop_background_output(int terminal) {
    struct termios settings;
    if (tcgetattr(terminal, &settings) != 0) return -errno;
    settings.c_lflag |= TOSTOP;
    return tcsetattr(terminal, TCSANOW, &settings) != 0 ? -errno : 0;
}

static bool fill_address(struct sockaddr_un *address, const char *path) {
    *address = (struct sockaddr_un){.sun_family = AF_UNIX};
    if (strlen(path) >= sizeof address->sun_path) return false;
    memcpy(address->sun_path, path, strlen(path));
    return true;
}

static int bind_to(const char *path, int type) {
    struct sockaddr_un address;
    if (!fill_address(&address, path)) return -ENAMETOOLONG;
    int descriptor = socket(AF_UNIX, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (descriptor < 0) return -errno;
    if (bind(descriptor, (struct sockaddr *)&address, sizeof address) != 0 ||
        chmod(path, 0666) != 0) {
        int number = errno;
        close(descriptor);
        return -number;
    }
    return descriptor;
}

int cbench_listen(const char *path) {
    int descriptor = bind_to(path, SOCK_DGRAM);
    int room = 4 << 20;
    if (descriptor >= 0) setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &room, sizeof room);
    return descriptor;
}

int cbench_serve(const char *path) {
    int descriptor = bind_to(path, SOCK_STREAM);
    if (descriptor >= 0) listen(descriptor, 8);
    return descriptor;
}

int cbench_connect(const char *path) {
    struct sockaddr_un address;
    if (!fill_address(&address, path)) return -ENAMETOOLONG;
    int descriptor = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (descriptor < 0) return -errno;
    if (connect(descriptor, (struct sockaddr *)&address, sizeof address) == 0) return descriptor;
    int number = errno;
    close(descriptor);
    return -number;
}

int cbench_free_port(void) {
    struct sockaddr_in address = {
        .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof address;
    int descriptor = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (descriptor < 0) return -errno;
    bool is_bound = bind(descriptor, (struct sockaddr *)&address, sizeof address) == 0 &&
                    getsockname(descriptor, (struct sockaddr *)&address, &length) == 0;
    int number = errno;
    close(descriptor);
    return is_bound ? ntohs(address.sin_port) : -number;
}

int cbench_send(const char *path, const char *text) {
    struct sockaddr_un address;
    if (!fill_address(&address, path)) return -ENAMETOOLONG;
    if (path[0] == '@') address.sun_path[0] = 0;
    socklen_t length = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + strlen(path));
    int descriptor = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (descriptor < 0) return -errno;
    ssize_t sent = sendto(descriptor, text, strlen(text), MSG_NOSIGNAL,
                          (struct sockaddr *)&address, length);
    int number = errno;
    close(descriptor);
    return sent < 0 ? -number : 0;
}

int cbench_limit_descriptors(pid_t pid, uint64_t highest) {
    struct rlimit limit;
    if (prlimit(pid, RLIMIT_NOFILE, NULL, &limit) != 0) return -errno;
    limit.rlim_cur = highest + 1 < limit.rlim_max ? highest + 1 : limit.rlim_max;
    return prlimit(pid, RLIMIT_NOFILE, &limit, NULL) == 0 ? 0 : -errno;
}
