// The least a start and a stop can cost: N posix_spawns of one command in a row, then a SIGTERM and
// a wait for each, latest first. Prints the milliseconds of both: from the first spawn to the
// return of the last, and from the first SIGTERM to the end of the last.
#define _GNU_SOURCE
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>

extern char **environ;

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1e3 + time.tv_nsec / 1e6;
}

int main(int count, char **arguments) {
    int services = count > 2 ? atoi(arguments[1]) : 0;
    if (services < 1) {
        fprintf(stderr, "usage: floor N COMMAND [ARGUMENT ...]\n");
        return 64;
    }
    pid_t *children = calloc((size_t)services, sizeof *children);
    if (!children) return 70;
    double begun = now();
    for (int place = 0; place < services; place++) {
        if (posix_spawn(&children[place], arguments[2], NULL, NULL, arguments + 2, environ) != 0) {
            perror("posix_spawn");
            return 70;
        }
    }
    double spawned = now();
    // Those that are not yet what they are to be would make the stop look slower than it is.
    struct timespec moment = {.tv_nsec = 300 * 1000 * 1000};
    nanosleep(&moment, NULL);
    double stopping = now();
    for (int place = services - 1; place >= 0; place--) {
        siginfo_t info;
        kill(children[place], SIGTERM);
        waitid(P_PID, (id_t)children[place], &info, WEXITED);
    }
    printf("%.1f %.1f\n", spawned - begun, now() - stopping);
    return 0;
}
