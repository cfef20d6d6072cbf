#include "puppet.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

pid_t last_kid = 0;

static const char *own_name = "?";

static void become(const char *suffix, bool ignores) {
    char name[128];
    snprintf(name, sizeof name, "%s-%s", own_name, suffix);
    // The mask stays: a signal that comes before the copy listens waits for it.
    execl("/proc/self/exe", "puppet", name, "--term", ignores ? "ignore" : "exit", (char *)NULL);
    _exit(127);
}

static void drop_output(void) {
    int nowhere = open("/dev/null", O_RDWR);
    dup2(nowhere, 1);
    dup2(nowhere, 2);
}

void start_kid(const char *kind) {
    extern struct options options;
    own_name = options.name;
    pid_t child = fork();
    if (child != 0) {
        last_kid = child;
        if (strcmp(kind, "doublefork") == 0) waitpid(child, NULL, 0);
        return;
    }
    if (strcmp(kind, "plain") == 0) become("kid", false);
    if (strcmp(kind, "stubborn") == 0) become("kid", true);
    setsid();
    if (strcmp(kind, "doublefork") == 0 && fork() != 0) _exit(0);
    if (strcmp(kind, "holdout") != 0) drop_output();
    become("kid", true);
}

void start_late(void) {
    extern struct options options;
    own_name = options.name;
    pid_t child = fork();
    if (child == 0) become("late", true);
    last_kid = child;
    report("forked-late", "%d", child);
}
