// puppet: a service whose behaviour is chosen by flags. `main.c` lists them.
#ifndef PUPPET_H
#define PUPPET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#pragma clang assume_nonnull begin

enum { most_acts = 64, longest_text = 8192 };

// What is done once, in the order of the flags, before the loop.
struct act {
    const char *flag;
    const char *argument;
};

struct options {
    const char *name;
    double ready;     // seconds to READY=1; negative: never
    double until;     // seconds to the exit; negative: never
    int code;         // of that exit
    const char *term; // what SIGTERM, SIGINT and SIGQUIT do
    double watchdog;  // seconds between two WATCHDOG=1; negative: none
    double silent;    // seconds to the last of them; negative: never
    int flood;        // lines a second on stdout
    int storm;        // notify messages a second
    double beat;      // seconds between two `beat` events; negative: none
    bool spins;       // burns a processor
    struct act acts[most_acts];
    int act_count;
};

// Sends `milliseconds name pid event extra` to $PLOG, and appends it to $PLOGFILE if that is set.
void report(const char *event, const char *format, ...) __attribute__((format(printf, 2, 3)));
void report_as(const char *name);

// Monotonic seconds.
double now(void);

// Sends `text` (escapes \n \\ \xHH, %p this pid, %k the last kid's) to the socket at `path`;
// `NULL` is $NOTIFY_SOCKET. `descriptor` goes along unless negative.
bool notify(const char *_Nullable path, const char *text, int descriptor);
// Sends one message of a few kinds in turn. Never waits, and nobody is told.
void storm(void);
// Sends BARRIER=1 and reports how long it took the receiver to close the descriptor.
void barrier(void);
// Resolves the escapes of `text` into `bytes`; returns how many.
size_t unescape(const char *text, char *bytes, size_t capacity);

// Starts a copy of this program: plain, stubborn, setsid, holdout or doublefork.
void start_kid(const char *kind);
// Starts `NAME-late --term ignore` and reports it.
void start_late(void);
extern pid_t last_kid;

// Keeps the signals that were inherited, for `--print-status`.
void remember_status(void);

// Does `act`; false when there is no such act.
bool perform(const struct act *act);

// Connects to the descriptor of $ORCHESTRATOR_FD and says HELLO=1; negative when there is none.
int open_channel(void);
// Reads one message of the channel; true when it asks for the stop.
bool read_channel(int channel);

#pragma clang assume_nonnull end

#endif
