/* timed: a daemon that answers every connection with the time, and speaks to its orchestrator.
 *
 * What is worth copying: it says ready when it really listens, hands over its address, pings the
 * watchdog from the loop that does the work, and ends what it has begun before it stops. */
#include "CLifecycle.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

/* The longest turn of the loop, in milliseconds: the status is renewed that often. */
#define LONGEST_TURN 10000

static volatile sig_atomic_t terminated;

static void on_term(int number)
{
    (void)number;
    terminated = 1;
}

static int listen_on(unsigned short *port)
{
    struct sockaddr_in name = {.sin_family = AF_INET, .sin_port = htons(*port)};
    socklen_t size = sizeof name;
    int on = 1;
    name.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) < 0 ||
        bind(fd, (struct sockaddr *)&name, sizeof name) < 0 || listen(fd, 64) < 0 ||
        getsockname(fd, (struct sockaddr *)&name, &size) < 0)
        return -1;
    *port = ntohs(name.sin_port);
    return fd;
}

static void serve(int listener)
{
    int client = accept(listener, NULL, NULL);
    if (client < 0)
        return;
    time_t now = time(NULL);
    char text[64];
    size_t length = strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S\n", localtime(&now));
    (void)!send(client, text, length, MSG_NOSIGNAL);
    close(client);
}

/* Returns whether the orchestrator wants us to stop. */
static int hear(void)
{
    struct clc_message message;
    int stops = 0;
    while (clc_next(&message) == 1) {
        if (message.kind == CLC_STOP) {
            /* The answer within half a second keeps SIGTERM away until shortly before the end. */
            clc_stopping();
            printf("asked to stop: %s; %llu ms left\n", message.reason,
                   (unsigned long long)(message.deadline / 1000));
            stops = 1;
        } else if (message.kind == CLC_RELOAD) {
            clc_reloading();
            printf("nothing to reload\n");
            clc_ready();
        }
    }
    return stops;
}

int main(int count, char **arguments)
{
    setvbuf(stdout, NULL, _IOLBF, 0);
    clc_open();
    struct sigaction action = {.sa_handler = on_term};
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGINT, &action, NULL);

    unsigned short port = count > 1 ? (unsigned short)atoi(arguments[1]) : 0;
    int listener = listen_on(&port);
    if (listener < 0) {
        fprintf(stderr, "cannot listen on port %u: %s\n", port, strerror(errno));
        return 1;
    }
    char address[32];
    snprintf(address, sizeof address, "127.0.0.1:%u", port);
    clc_value("address", address);
    clc_status("listening on %s", address);
    clc_ready();

    uint64_t interval = clc_watchdog_interval() / 1000;
    int turn = interval > 0 && interval / 2 < LONGEST_TURN ? (int)(interval / 2) : LONGEST_TURN;
    unsigned long answered = 0;
    for (int stops = 0; !stops && !terminated;) {
        /* clc_fd is -1 without a channel, and poll passes over it. */
        struct pollfd both[] = {{.fd = listener, .events = POLLIN},
                                {.fd = clc_fd(), .events = POLLIN}};
        int ready = poll(both, 2, turn);
        if (interval > 0)
            clc_watchdog_ping();
        if (ready > 0 && both[0].revents) {
            serve(listener);
            answered++;
        }
        if (ready > 0 && both[1].revents)
            stops = hear();
        clc_status("listening on %s, answered %lu", address, answered);
    }
    clc_stopping();
    close(listener);
    clc_status("answered %lu in all", answered);
    printf("bye after %lu answers\n", answered);
    return 0;
}
