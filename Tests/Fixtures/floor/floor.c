// The least a start can cost: N posix_spawns of one command in a row. Prints the milliseconds from
// the first to the return of the last, then ends what it started.
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
    printf("%.1f\n", now() - begun);
    for (int place = 0; place < services; place++) kill(children[place], SIGKILL);
    for (int place = 0; place < services; place++) waitpid(children[place], NULL, 0);
    return 0;
}
