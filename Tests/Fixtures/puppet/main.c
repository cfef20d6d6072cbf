// puppet: a service that misbehaves on request, for the tests of the whole program.
//
//   puppet NAME [FLAG [ARGUMENT]]…
//
// Every event is one datagram to the Unix socket $PLOG, and one line appended to $PLOGFILE:
// `MILLISECONDS NAME PID EVENT EXTRA`, the time monotonic. Tests wait for events, not for time.
//
// How it lives:
//   --ready S         READY=1 after S seconds          --exit S --code N   ends after S seconds
//   --term WHAT       on SIGTERM, SIGINT, SIGQUIT: exit (0), exit1, ignore, slow:S, segv, or fork
//                     (leaves a successor that ignores SIGTERM, and exits)
//   --watchdog S      WATCHDOG=1 every S seconds       --silent S          no more after S seconds
//   --flood N         N lines a second on stdout       --beat S            a `beat` event every S
//   --storm N         N notify messages a second, right and wrong ones, unreported
//   --control         opens the control channel and stops when told to
//   --cpu             burns a processor
//
// What it does once, in the order of the flags (`acts.c`):
//   --say TEXT  --say-error TEXT  --say-raw HEX  --fill COUNT[:TEXT]  --write-fd N[:TEXT]
//   --notify TEXT  --notify-fd TEXT (with a descriptor)  --notify-to FILE:TEXT  --mainpid PID
//   --barriers N  --kid plain|stubborn|setsid|holdout|doublefork  --port N  --pause S
//   --signal-self SEGV|KILL|STOP|ABRT  --store FILE  --store-notify FILE  --print-env FILE
//   --print-status  --list-fds  --read-stdin  --open-tty  --close-stdio  --quit
//
// TEXT knows \n, \\, \xHH, %p (this process) and %k (the last kid).
#define _GNU_SOURCE
#include "puppet.h"

#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

struct options options = {
    .ready = -1, .until = -1, .term = "exit", .watchdog = -1, .silent = -1, .beat = -1};

// The times of the next acts of the loop; infinite where there is none.
static struct {
    double begun, ready, until, bye, watchdog, beat, line, message;
} due;

static const char *const without_argument[] = {
    "--print-status", "--list-fds", "--read-stdin", "--open-tty", "--close-stdio", "--quit",
    "--control",      "--cpu",
};

static bool control = false;

static bool takes_argument(const char *flag) {
    for (size_t place = 0; place < sizeof without_argument / sizeof *without_argument; place++) {
        if (strcmp(flag, without_argument[place]) == 0) return false;
    }
    return true;
}

static bool set_option(const char *flag, const char *argument) {
    if (strcmp(flag, "--ready") == 0) options.ready = atof(argument);
    else if (strcmp(flag, "--exit") == 0) options.until = atof(argument);
    else if (strcmp(flag, "--code") == 0) options.code = atoi(argument);
    else if (strcmp(flag, "--term") == 0) options.term = argument;
    else if (strcmp(flag, "--watchdog") == 0) options.watchdog = atof(argument);
    else if (strcmp(flag, "--silent") == 0) options.silent = atof(argument);
    else if (strcmp(flag, "--flood") == 0) options.flood = atoi(argument);
    else if (strcmp(flag, "--storm") == 0) options.storm = atoi(argument);
    else if (strcmp(flag, "--beat") == 0) options.beat = atof(argument);
    else if (strcmp(flag, "--control") == 0) control = true;
    else if (strcmp(flag, "--cpu") == 0) options.spins = true;
    else return false;
    return true;
}

static void parse(int count, char **arguments) {
    if (count < 2) {
        fprintf(stderr, "puppet: cannot act without a name\n");
        _exit(64);
    }
    options.name = arguments[1];
    for (int place = 2; place < count; place++) {
        const char *flag = arguments[place];
        const char *argument = "";
        if (takes_argument(flag)) {
            if (place + 1 >= count) {
                fprintf(stderr, "puppet: %s needs an argument\n", flag);
                _exit(64);
            }
            argument = arguments[++place];
        }
        if (set_option(flag, argument)) continue;
        if (options.act_count == most_acts) _exit(64);
        options.acts[options.act_count++] = (struct act){flag, argument};
    }
}

static void report_start(void) {
    char stat[1024] = "";
    unsigned long long begun = 0;
    FILE *file = fopen("/proc/self/stat", "re");
    if (file && fgets(stat, sizeof stat, file)) {
        const char *rest = strrchr(stat, ')');
        if (rest) {
            sscanf(rest + 2, "%*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d "
                             "%*d %*d %*d %llu", &begun);
        }
    }
    if (file) fclose(file);
    report("start", "pgid=%d sid=%d ppid=%d begun=%llu", getpgid(0), getsid(0), getppid(), begun);
}

static void leave(int code) {
    report("bye", "%d", code);
    _exit(code);
}

static void stop_as_told(void) {
    const char *term = options.term;
    if (strcmp(term, "ignore") == 0) return;
    if (strncmp(term, "slow:", 5) == 0) {
        if (isinf(due.bye)) due.bye = now() + atof(term + 5);
        return;
    }
    if (strcmp(term, "fork") == 0) start_late();
    if (strcmp(term, "segv") == 0) perform(&(struct act){"--signal-self", "SEGV"});
    leave(strcmp(term, "exit1") == 0 ? 1 : 0);
}

static void take_signal(int descriptor) {
    struct signalfd_siginfo info;
    if (read(descriptor, &info, sizeof info) != sizeof info) return;
    const char *name = sigabbrev_np((int)info.ssi_signo);
    report("got", "SIG%s from=%d", name ? name : "?", info.ssi_pid);
    if (info.ssi_signo == SIGTERM || info.ssi_signo == SIGINT || info.ssi_signo == SIGQUIT) {
        stop_as_told();
    }
}

static bool passed(double *time, double again) {
    double moment = now();
    if (moment < *time) return false;
    *time = again < 0 ? INFINITY : fmax(*time + again, moment - 1);
    return true;
}

static void act_on_time(void) {
    static unsigned long lines = 0;
    if (passed(&due.ready, -1)) notify(NULL, "READY=1", -1);
    if (passed(&due.watchdog, options.watchdog)) notify(NULL, "WATCHDOG=1", -1);
    if (options.silent >= 0 && now() - due.begun >= options.silent) due.watchdog = INFINITY;
    if (passed(&due.beat, options.beat)) report("beat", "%lu", lines);
    while (options.flood > 0 && passed(&due.line, 1.0 / options.flood)) {
        dprintf(1, "%s line %lu\n", options.name, lines++);
    }
    while (options.storm > 0 && passed(&due.message, 1.0 / options.storm)) storm();
    if (passed(&due.bye, -1)) leave(0);
    if (passed(&due.until, -1)) {
        report("exit", "%d", options.code);
        _exit(options.code);
    }
}

static int milliseconds_to_next(void) {
    if (options.spins) return 0;
    double next = fmin(fmin(due.ready, due.until), fmin(due.bye, due.watchdog));
    next = fmin(next, fmin(due.beat, fmin(due.line, due.message)));
    double left = next - now();
    if (left > 3600) return -1;
    return left <= 0 ? 0 : (int)ceil(left * 1000);
}

static double after(double seconds) {
    return seconds < 0 ? INFINITY : due.begun + seconds;
}

int main(int count, char **arguments) {
    parse(count, arguments);
    report_as(options.name);
    // First what was inherited, then the mask, then the first word: who hears it may signal us.
    remember_status();
    sigset_t set;
    sigemptyset(&set);
    const int heard[] = {SIGTERM, SIGINT, SIGQUIT, SIGHUP, SIGUSR1, SIGUSR2};
    const size_t heard_count = sizeof heard / sizeof *heard;
    for (size_t place = 0; place < heard_count; place++) sigaddset(&set, heard[place]);
    sigprocmask(SIG_SETMASK, &set, NULL);
    for (size_t place = 0; place < heard_count; place++) signal(heard[place], SIG_DFL);
    signal(SIGPIPE, SIG_IGN);
    int signals = signalfd(-1, &set, SFD_CLOEXEC);
    report_start();

    due.begun = now();
    int channel = control ? open_channel() : -1;
    for (int place = 0; place < options.act_count; place++) {
        if (!perform(&options.acts[place])) {
            fprintf(stderr, "puppet: no such flag: %s\n", options.acts[place].flag);
            return 64;
        }
    }
    // Kids leave no zombies behind; unlike an ignored SIGCHLD this does not outlive an exec.
    sigaction(SIGCHLD, &(struct sigaction){.sa_handler = SIG_DFL, .sa_flags = SA_NOCLDWAIT}, NULL);
    due.ready = after(options.ready);
    due.until = after(options.until);
    due.watchdog = after(options.watchdog);
    due.beat = after(options.beat);
    due.line = options.flood > 0 ? due.begun : INFINITY;
    due.message = options.storm > 0 ? due.begun : INFINITY;
    due.bye = INFINITY;
    for (;;) {
        act_on_time();
        struct pollfd watched[] = {
            {.fd = signals, .events = POLLIN}, {.fd = channel, .events = POLLIN}};
        if (poll(watched, 2, milliseconds_to_next()) < 0) continue;
        if (watched[0].revents) take_signal(signals);
        if (watched[1].revents) {
            bool stops = read_channel(channel);
            if (stops) stop_as_told();
            if (!stops && (watched[1].revents & POLLHUP)) channel = -1;
        }
    }
}
