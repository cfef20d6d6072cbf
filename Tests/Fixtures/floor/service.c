// A service that says READY=1 and waits to be ended. Given the name of a FIFO that somebody reads,
// it first says there who it is and when it ran: two 64-bit numbers, its pid and CLOCK_MONOTONIC in
// nanoseconds.
#include "CLifecycle.h"

#include <fcntl.h>
#include <stdint.h>
#include <time.h>
#include <unistd.h>

static void say_that_we_run(const char *fifo) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    int64_t stamp[2] = {getpid(), time.tv_sec * 1000000000ll + time.tv_nsec};
    int descriptor = open(fifo, O_WRONLY | O_NONBLOCK);
    if (descriptor < 0) return;
    if (write(descriptor, stamp, sizeof stamp) != sizeof stamp) _exit(70);
    close(descriptor);
}

int main(int count, char **arguments) {
    if (count > 1) say_that_we_run(arguments[1]);
    clc_ready();
    for (;;) pause();
}
