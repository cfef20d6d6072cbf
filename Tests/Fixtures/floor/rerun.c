// What it costs to have a killed service running again, beside the least it could cost.
//
// Usage: rerun ROUNDS COMMAND FIFO OTHER ...
//
// In each round, a child of our own (COMMAND FIFO) is killed, waited for and spawned again; then
// the process that answers on each OTHER is killed, and whoever supervises it makes the next. A
// round is over when the new process has said on its FIFO when it ran; the cost is from the kill to
// that moment. Taken in turns, so that what else the machine does hits all alike. Prints a line for
// each, in microseconds: the median, and the mean of the quickest tenth. Others can only make it
// slower, so the quickest tell what it costs.
#define _GNU_SOURCE
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

enum { mostTargets = 8, mostRounds = 10000, patience = 120000 };

struct stamp {
    int64_t pid, nanoseconds;
};

static int fifos[mostTargets];
static struct stamp latest[mostTargets];
static double costs[mostTargets][mostRounds];

static int64_t now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1000000000ll + time.tv_nsec;
}

static void hear(int target) {
    struct pollfd waiting = {.fd = fifos[target], .events = POLLIN};
    if (poll(&waiting, 1, patience) != 1 ||
        read(fifos[target], &latest[target], sizeof latest[target]) != sizeof latest[target]) {
        fprintf(stderr, "rerun: target %d does not come back\n", target);
        exit(70);
    }
}

static void spawn(char **command) {
    pid_t child;
    if (posix_spawn(&child, command[0], NULL, NULL, command, environ) != 0) {
        perror("posix_spawn");
        exit(70);
    }
}

static double rerun(int target, char **command) {
    int64_t begun = now();
    kill((pid_t)latest[target].pid, SIGKILL);
    if (target == 0) {
        waitpid((pid_t)latest[0].pid, NULL, 0);
        spawn(command);
    }
    hear(target);
    return (double)(latest[target].nanoseconds - begun) / 1e3;
}

static int compare(const void *left, const void *right) {
    double difference = *(const double *)left - *(const double *)right;
    return (difference > 0) - (difference < 0);
}

static void print(double *values, int count) {
    int quickest = count / 10 + 1;
    double sum = 0;
    qsort(values, (size_t)count, sizeof *values, compare);
    for (int place = 0; place < quickest; place++) sum += values[place];
    printf("%.0f %.0f\n", values[count / 2], sum / quickest);
}

int main(int count, char **arguments) {
    int rounds = count > 3 ? atoi(arguments[1]) : 0, targets = count - 3;
    if (rounds < 1 || rounds > mostRounds || targets > mostTargets) {
        fprintf(stderr, "usage: rerun ROUNDS COMMAND FIFO OTHER ...\n");
        return 64;
    }
    char *command[] = {arguments[2], arguments[3], NULL};
    for (int target = 0; target < targets; target++) {
        // Both ways, so that it is never at its end.
        fifos[target] = open(arguments[3 + target], O_RDWR | O_CLOEXEC);
        if (fifos[target] < 0) {
            perror(arguments[3 + target]);
            return 66;
        }
    }
    spawn(command);
    for (int target = 0; target < targets; target++) hear(target);
    struct timespec moment = {.tv_nsec = 20 * 1000 * 1000};
    for (int round = 0; round < rounds; round++) {
        for (int target = 0; target < targets; target++) {
            // The one before must have come to rest.
            nanosleep(&moment, NULL);
            costs[target][round] = rerun(target, command);
        }
    }
    kill((pid_t)latest[0].pid, SIGKILL);
    for (int target = 0; target < targets; target++) print(costs[target], rounds);
    return 0;
}
