/* The messages between a service and the orchestrator that runs it.
 *
 * This header and CLifecycle.c are all a daemon needs: C99, no library but libc. Copy the two files
 * into your project, or build them from here.
 *
 *     clc_open();                          once, early: the control channel, if we were given one
 *     clc_status("loading %d of %d", i, n);
 *     clc_value("url", "http://127.0.0.1:8080");
 *     clc_ready();
 *     poll(clc_fd()) ... clc_next(&message) ... clc_stopping();
 *
 * Under no orchestrator every call does nothing and says so with 0, so a daemon needs no condition
 * around them. Under systemd everything but the control channel works too: the wire format is that
 * of sd_notify(3).
 *
 * The wire: a datagram of lines `KEY=value`, separated by newlines. Unknown keys are ignored. It
 * travels on the datagram socket named in NOTIFY_SOCKET, or on the SOCK_SEQPACKET socket whose
 * number stands in ORCHESTRATOR_FD.
 *
 * Results: what is counted is >= 0, a failure is a negated errno. Nothing here raises SIGPIPE or
 * prints. Sending waits for room at most a second (a message lost there is a start that fails),
 * clc_notify_barrier up to its timeout; nothing else waits. The functions that send may be called
 * from any thread once clc_open has returned.
 */
#ifndef CLIFECYCLE_H
#define CLIFECYCLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __clang__
#define CLC_NULLABLE _Nullable
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wnullability-extension"
#pragma clang assume_nonnull begin
#else
#define CLC_NULLABLE
#endif

#if defined(__GNUC__)
#define CLC_FORMAT(text, rest) __attribute__((format(printf, text, rest)))
#else
#define CLC_FORMAT(text, rest)
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* ---- The line format: the one parser and the one writer, for both ends ---- */

/* The longest message that is read, in bytes. A longer one is refused as a whole. */
#define CLC_DATAGRAM_MAX 65536
/* The lines of one message that are read. The rest is refused. */
#define CLC_LINES_MAX 256
/* The longest name of a value, in bytes. */
#define CLC_NAME_MAX 64
/* The longest text of a value or status the client sends, in bytes; more is cut between
 * characters. */
#define CLC_TEXT_MAX 4096
/* The longest path of a Unix socket, in bytes: sun_path without its end. */
#define CLC_PATH_MAX 107

/* What a line says. */
enum clc_kind {
    CLC_READY = 1,           /* READY=1 */
    CLC_STATUS,              /* STATUS=text */
    CLC_STOPPING,            /* STOPPING=1 */
    CLC_RELOADING,           /* RELOADING=1 */
    CLC_MAINPID,             /* MAINPID=number */
    CLC_WATCHDOG_PING,       /* WATCHDOG=1 */
    CLC_WATCHDOG_TRIGGER,    /* WATCHDOG=trigger */
    CLC_WATCHDOG_USEC,       /* WATCHDOG_USEC=number */
    CLC_EXTEND_TIMEOUT_USEC, /* EXTEND_TIMEOUT_USEC=number */
    CLC_ERRNO,               /* ERRNO=number */
    CLC_BARRIER,             /* BARRIER=1 */
    CLC_FDSTORE,             /* FDSTORE=1 */
    CLC_VALUE,               /* VALUE_name=text: a value for those that need the service */
    CLC_HELLO,               /* HELLO=1: the child listens on the control channel */
    CLC_STOP,                /* STOP=1: the child is to stop */
    CLC_RELOAD,              /* RELOAD=1: the child is to read its config again */
    CLC_REASON,              /* REASON=text, beside STOP */
    CLC_DEADLINE_USEC,       /* DEADLINE_USEC=number, beside STOP: from now to SIGKILL */
    CLC_MALFORMED            /* not a line, or a known key with an impossible value */
};

/* One line of a message. The pointers go into the message and end nowhere: mind the lengths. */
struct clc_item {
    enum clc_kind kind;
    /* The value of kinds with a number, else 0. */
    uint64_t number;
    /* STATUS, VALUE, REASON: the text, valid UTF-8 without NUL. MALFORMED: why, in words. */
    const char *CLC_NULLABLE text;
    size_t text_length;
    /* VALUE: the name after VALUE_. MALFORMED: the key, empty where there is none. */
    const char *CLC_NULLABLE name;
    size_t name_length;
};

/* Hears one line. */
typedef void (*clc_reader)(void *CLC_NULLABLE context, const struct clc_item *item);

/* Reads a message line by line and calls `reader` for each that means something, in order; lines
 * with unknown keys are passed over. Any bytes are safe: NULs, broken UTF-8, none at all. One NUL
 * at the very end is allowed, since some clients send their terminator. */
void clc_parse(const void *CLC_NULLABLE bytes, size_t length, clc_reader reader,
               void *CLC_NULLABLE context);

/* Appends a line to the `used` bytes in `buffer`. Control characters of the text become spaces, and
 * what does not fit in `capacity` is cut between characters. Returns the new length, or `used` when
 * not even the key fits. */
size_t clc_write_text(char *buffer, size_t capacity, size_t used, const char *key,
                      const char *text);
/* Appends a line with a number. A line that does not fit is left out whole. */
size_t clc_write_number(char *buffer, size_t capacity, size_t used, const char *key,
                        uint64_t number);

/* ---- Sending, for both ends ---- */

/* Sends on a connected socket, waiting at most `wait` milliseconds for room and never raising
 * SIGPIPE. `descriptor` goes along unless it is -1. Returns 1, or a negated errno: -EAGAIN where
 * there was no room, -EPIPE or -ECONNREFUSED where the other end is gone. */
int clc_send(int socket, const void *bytes, size_t length, int descriptor, int wait);
/* The same to the datagram socket at `address`: a path, or `@name` of the abstract namespace.
 * -EINVAL for any other address, -ENAMETOOLONG beyond CLC_PATH_MAX bytes. */
int clc_send_to(const char *address, const void *bytes, size_t length, int descriptor, int wait);

/* ---- The client: what a daemon says ---- */

/* Sends a message as it is, on the control channel if it is open, else to NOTIFY_SOCKET.
 * Returns 1 if it was sent, 0 if nobody listens, or a negated errno. */
int clc_notify(const char *text);
/* The service can be used (or has finished a reload). */
int clc_ready(void);
/* One line for people about what the service does. */
int clc_status(const char *format, ...) CLC_FORMAT(1, 2);
/* The same with a finished text. */
int clc_status_text(const char *text);
/* Hands a value to the services that need this one; it takes effect with the next clc_ready.
 * `name`: letters, digits, `_`, `-` and `.`, at most CLC_NAME_MAX bytes; else -EINVAL. */
int clc_value(const char *name, const char *text);
/* The service stops: the answer to CLC_STOP, or on its own account. */
int clc_stopping(void);
/* The service reads its config again; clc_ready ends it. */
int clc_reloading(void);
/* The service needs this much longer, from now on. */
int clc_extend_timeout(uint64_t microseconds);
/* The service is alive. Twice per clc_watchdog_interval is a good measure. */
int clc_watchdog_ping(void);
/* How often a sign of life is expected, in microseconds; 0 if it is not. */
uint64_t clc_watchdog_interval(void);
/* Returns once everything sent before has been read: 1 if so, 0 if nobody listens, -ETIMEDOUT
 * after `timeout` microseconds, or another negated errno. */
int clc_notify_barrier(uint64_t timeout);

/* ---- The client: what a daemon hears on the control channel ---- */

/* A message of the orchestrator. */
struct clc_message {
    /* CLC_STOP or CLC_RELOAD. */
    enum clc_kind kind;
    /* STOP: microseconds until SIGKILL, or UINT64_MAX where no deadline was given. */
    uint64_t deadline;
    /* STOP: why, in words; empty where no reason was given. Cut to fit, ends in NUL. */
    char reason[256];
};

/* Opens the channel named in ORCHESTRATOR_FD, once: sets close-on-exec, unsets the variable and
 * says HELLO=1. Later calls answer the same. Returns the descriptor, or a negated errno: -ENOENT
 * where there is no channel. Call it from one thread, before others are started. */
int clc_open(void);
/* The descriptor to poll for input, or -1 where there is no channel (or no longer one). */
int clc_fd(void);
/* Takes the next message without waiting. Returns 1 with a message, 0 when there is none now,
 * -EPIPE once the orchestrator has gone (stop polling then), or another negated errno. One thread
 * reads. */
int clc_next(struct clc_message *message);

#ifdef __cplusplus
}
#endif
#ifdef __clang__
#pragma clang assume_nonnull end
#pragma clang diagnostic pop
#endif
#endif
