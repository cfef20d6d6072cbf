// How often a process woke up: the context switches of all its threads, between two looks that are
// some seconds apart, after some seconds in which what it was doing may end. Prints the number.
#define _GNU_SOURCE
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static long switches(const char *process) {
    char path[512], line[256];
    snprintf(path, sizeof path, "/proc/%s/task", process);
    DIR *tasks = opendir(path);
    if (!tasks) {
        perror(path);
        exit(66);
    }
    long sum = 0;
    for (struct dirent *task; (task = readdir(tasks));) {
        if (task->d_name[0] == '.') continue;
        snprintf(path, sizeof path, "/proc/%s/task/%s/status", process, task->d_name);
        FILE *status = fopen(path, "r");
        if (!status) continue;
        while (fgets(line, sizeof line, status)) {
            const char *found = strstr(line, "ctxt_switches:");
            if (found) sum += atol(found + strlen("ctxt_switches:"));
        }
        fclose(status);
    }
    closedir(tasks);
    return sum;
}

static void pass(int seconds) {
    struct timespec time = {.tv_sec = seconds};
    nanosleep(&time, NULL);
}

int main(int count, char **arguments) {
    if (count != 4) {
        fprintf(stderr, "usage: wakeups PID SECONDS-BEFORE SECONDS\n");
        return 64;
    }
    pass(atoi(arguments[2]));
    long before = switches(arguments[1]);
    pass(atoi(arguments[3]));
    printf("%ld\n", switches(arguments[1]) - before);
    return 0;
}
