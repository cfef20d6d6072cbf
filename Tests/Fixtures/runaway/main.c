/* runaway: a process that gets away, in the way its argument names. Each of them ends by itself
 * after 30 s, so a failed test leaves nothing for good.
 *
 *   hold               waits                       stubborn  leaves a child that ignores SIGTERM
 *   escape             a daemon: new session, no environment, its parents gone
 *   stray              the same, and the token in its unused limit is gone too
 *   chain              each forks the next and exits, for ever, in one group
 *   sessions           the same, each in a session of its own
 *   nest               main, child and grandchild, all ignoring SIGTERM, in three sessions
 *
 * It says `ready PID` on stdout once it has happened; PID is who got away. */
#define _GNU_SOURCE
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { lifetime = 30 };

extern char **environ;

static void say_ready(void)
{
    char text[32];
    int length = snprintf(text, sizeof text, "ready %d\n", getpid());
    if (write(1, text, (size_t)length) != length) _exit(74);
}

static void hold(void)
{
    alarm(lifetime);
    for (;;) pause();
}

/* Goes on as a child whose parent is dead, not merely about to be. */
static void fork_and_outlive(void)
{
    int parent = (int)syscall(SYS_pidfd_open, getpid(), 0);
    if (parent < 0) _exit(71);
    if (fork() != 0) _exit(0);
    struct pollfd end = { .fd = parent, .events = POLLIN };
    while (poll(&end, 1, lifetime * 1000) < 0) {}
    close(parent);
}

/* Leaves our parent's group and session; the parents in between end. */
static void get_away(void)
{
    fork_and_outlive();
    setsid();
    fork_and_outlive();
}

static time_t now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec;
}

static void chain(int in_sessions)
{
    time_t end = now() + lifetime;
    say_ready();
    while (now() < end) {
        pid_t child = fork();
        if (child > 0) _exit(0);
        if (child == 0 && in_sessions) setsid();
    }
}

static void nest(void)
{
    signal(SIGTERM, SIG_IGN);
    for (int depth = 0; depth < 2; depth++)
        if (fork() != 0) hold();
        else setsid();
    say_ready();
    hold();
}

static void be_forgotten(char **argv)
{
    /* What the kernel keeps of our first environment is what we were executed with. */
    if (argv[2] == NULL) {
        struct rlimit none = { RLIM_INFINITY, RLIM_INFINITY };
        if (strcmp(argv[1], "stray") == 0) setrlimit(RLIMIT_LOCKS, &none);
        char *again[] = { argv[0], argv[1], "again", NULL };
        char *nothing[] = { NULL };
        execve("/proc/self/exe", again, nothing);
        _exit(70);
    }
    get_away();
    say_ready();
    hold();
}

int main(int argc, char **argv)
{
    const char *mode = argc > 1 ? argv[1] : "";
    if (strcmp(mode, "hold") == 0) {
        say_ready();
        hold();
    } else if (strcmp(mode, "stubborn") == 0) {
        if (fork() != 0) hold();
        signal(SIGTERM, SIG_IGN);
        say_ready();
        hold();
    } else if (strcmp(mode, "escape") == 0 || strcmp(mode, "stray") == 0) {
        be_forgotten(argv);
    } else if (strcmp(mode, "chain") == 0 || strcmp(mode, "sessions") == 0) {
        chain(strcmp(mode, "sessions") == 0);
    } else if (strcmp(mode, "nest") == 0) {
        nest();
    }
    return 64;
}
