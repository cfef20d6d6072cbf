// The application server: answers every request with a line from PostgreSQL and a counter from
// Redis. It shows what a daemon does to be a good service: it says READY=1 only when it can do its
// work, says what it does, hears the graceful message with its reason, and ends in time.
//
//     app SOCKET        with DATABASE_URL and REDIS_PATH in the environment
#define _GNU_SOURCE
#include <CLifecycle.h>
#include <errno.h>
#include <hiredis.h>
#include <libpq-fe.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "http.h"

static PGconn *database;
static redisContext *cache;
static long answered = 0;

static const char *needed(const char *name) {
    const char *value = getenv(name);
    if (value && *value) return value;
    fprintf(stderr, "app: cannot start without %s\n", name);
    exit(78);
}

static void connect_both(void) {
    database = PQconnectdb(needed("DATABASE_URL"));
    if (PQstatus(database) != CONNECTION_OK) {
        fprintf(stderr, "app: cannot reach the database: %s", PQerrorMessage(database));
        exit(1);
    }
    struct timeval bound = {.tv_sec = 2};
    cache = redisConnectUnixWithTimeout(needed("REDIS_PATH"), bound);
    if (!cache || cache->err) {
        fprintf(stderr, "app: cannot reach the cache: %s\n", cache ? cache->errstr : "no memory");
        exit(1);
    }
    redisSetTimeout(cache, bound);
}

// A connection that broke is fatal: the orchestrator restarts us once what we need is back.
static void answer(int connection) {
    char body[1024] = "{\"error\": \"a need is gone\"}";
    PGresult *row = PQexec(database, "SELECT words FROM greeting WHERE id = 1");
    redisReply *count = redisCommand(cache, "INCR visits");
    bool is_good = PQresultStatus(row) == PGRES_TUPLES_OK && PQntuples(row) == 1 && count &&
                   count->type == REDIS_REPLY_INTEGER;
    if (is_good) {
        snprintf(body, sizeof body, "{\"database\": \"%s\", \"cache\": %lld, \"pid\": %d}\n",
                 PQgetvalue(row, 0, 0), count->integer, getpid());
    }
    PQclear(row);
    if (count) freeReplyObject(count);
    http_answer(connection, is_good, body);
    if (!is_good) {
        fprintf(stderr, "app: cannot go on: a connection broke\n");
        exit(1);
    }
    clc_status("%ld requests answered", ++answered);
}

// Whether the orchestrator asked us to stop.
static bool is_told_to_stop(void) {
    struct clc_message message;
    while (clc_next(&message) == 1) {
        if (message.kind != CLC_STOP) continue;
        clc_stopping();
        printf("app: stopping: %s\n", message.reason);
        return true;
    }
    return false;
}

int main(int count, char **arguments) {
    if (count != 2) {
        fprintf(stderr, "usage: app SOCKET\n");
        return 64;
    }
    setvbuf(stdout, NULL, _IOLBF, 0);
    clc_open();
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGINT);
    sigprocmask(SIG_BLOCK, &set, NULL);
    int signals = signalfd(-1, &set, SFD_CLOEXEC);

    clc_status("connecting");
    connect_both();
    int listener = http_listen(arguments[1]);
    if (listener < 0) {
        fprintf(stderr, "app: cannot listen on %s: %s\n", arguments[1], strerror(errno));
        return 1;
    }
    clc_status("listening");
    clc_ready();
    printf("app: listening on %s\n", arguments[1]);

    for (;;) {
        struct pollfd watched[] = {
            {.fd = listener, .events = POLLIN},
            {.fd = signals, .events = POLLIN},
            {.fd = clc_fd(), .events = POLLIN},
        };
        if (poll(watched, 3, -1) < 0 && errno != EINTR) return 1;
        if (watched[1].revents) break;
        if (watched[2].revents && is_told_to_stop()) break;
        if (!watched[0].revents) continue;
        int connection = http_accept(listener);
        if (connection >= 0) answer(connection);
    }
    unlink(arguments[1]);
    PQfinish(database);
    redisFree(cache);
    printf("app: stopped after %ld answers\n", answered);
    return 0;
}
