#include "puppet.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <netinet/in.h>
#include <unistd.h>

static void write_all(int descriptor, const char *bytes, size_t length) {
    while (length > 0) {
        ssize_t count = write(descriptor, bytes, length);
        if (count < 0 && errno == EINTR) continue;
        if (count <= 0) {
            report("write-failed", "%s", strerror(errno));
            return;
        }
        bytes += count;
        length -= (size_t)count;
    }
}

static void say(int descriptor, const char *text) {
    static char bytes[64 << 10];
    write_all(descriptor, bytes, unescape(text, bytes, sizeof bytes));
}

static void say_hex(const char *hex) {
    for (; hex[0] && hex[1]; hex += 2) {
        char digits[3] = {hex[0], hex[1], 0};
        char byte = (char)strtol(digits, NULL, 16);
        write_all(1, &byte, 1);
    }
}

// COUNT[:TEXT]: TEXT (default x) again and again until COUNT bytes are written.
static void fill(const char *argument) {
    static char chunk[60000];
    char *rest = NULL;
    size_t count = strtoull(argument, &rest, 10);
    const char *text = *rest == ':' ? rest + 1 : "x";
    size_t length = strlen(text);
    for (size_t place = 0; place < sizeof chunk; place++) chunk[place] = text[place % length];
    size_t whole = sizeof chunk - sizeof chunk % length;
    while (count > 0) {
        size_t part = count < whole ? count : whole;
        write_all(1, chunk, part);
        count -= part;
    }
    report("filled", "%s", argument);
}

static void copy_file(const char *from, const char *to) {
    char bytes[4096];
    int source = open(from, O_RDONLY | O_CLOEXEC);
    int target = open(to, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    ssize_t count;
    while ((count = read(source, bytes, sizeof bytes)) > 0) write_all(target, bytes, (size_t)count);
    close(source);
    close(target);
    report("copied", "%s", to);
}

static void list_descriptors(void) {
    char list[longest_text / 2] = "";
    size_t used = 0;
    DIR *directory = opendir("/proc/self/fd");
    if (!directory) return;
    struct dirent *entry;
    while ((entry = readdir(directory)) && used < sizeof list - 300) {
        int number = atoi(entry->d_name);
        if (entry->d_name[0] == '.' || number == dirfd(directory)) continue;
        char path[64], target[256] = "";
        snprintf(path, sizeof path, "/proc/self/fd/%d", number);
        ssize_t length = readlink(path, target, sizeof target - 1);
        if (length < 0) continue;
        used += (size_t)snprintf(list + used, sizeof list - used, "%d=%s ", number, target);
    }
    closedir(directory);
    report("fds", "%s", list);
}

static void read_stdin(void) {
    char bytes[256];
    ssize_t count = read(0, bytes, sizeof bytes);
    if (count == 0) report("stdin-eof", "%s", "");
    if (count > 0) report("stdin-bytes", "%zd", count);
    if (count < 0) report("stdin-failed", "%s", strerror(errno));
}

static void open_terminal(void) {
    int terminal = open("/dev/tty", O_RDWR | O_CLOEXEC);
    if (terminal < 0) {
        report("tty-failed", "%s", strerror(errno));
        return;
    }
    report("tty-opened", "%s", "");
    char byte;
    ssize_t count = read(terminal, &byte, 1);
    report("tty-read", "%zd", count);
    if (write(terminal, "x", 1) < 0) report("tty-write-failed", "%s", strerror(errno));
    close(terminal);
}

static void listen_on(const char *argument) {
    int one = 1;
    int socket_fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    struct sockaddr_in address = {
        .sin_family = AF_INET,
        .sin_port = htons((uint16_t)atoi(argument)),
        .sin_addr.s_addr = htonl(INADDR_LOOPBACK),
    };
    setsockopt(socket_fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    if (bind(socket_fd, (struct sockaddr *)&address, sizeof address) != 0 ||
        listen(socket_fd, 8) != 0) {
        report("bind-failed", "%s", strerror(errno));
        _exit(3);
    }
    report("listening", "%s", argument);
}

static void signal_self(const char *name) {
    int number = strcmp(name, "SEGV") == 0   ? SIGSEGV
                 : strcmp(name, "KILL") == 0 ? SIGKILL
                 : strcmp(name, "STOP") == 0 ? SIGSTOP
                                             : SIGABRT;
    signal(number, SIG_DFL);
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, number);
    sigprocmask(SIG_UNBLOCK, &set, NULL);
    report("signals-itself", "%s", name);
    raise(number);
}

// Waits for the path another puppet stores in the file, then writes TEXT to that socket.
static void notify_to(const char *argument) {
    char file[256] = "", path[256] = "";
    const char *text = strchr(argument, ':');
    if (!text) return;
    snprintf(file, sizeof file, "%.*s", (int)(text - argument), argument);
    for (int tries = 0; tries < 200; tries++) {
        int descriptor = open(file, O_RDONLY | O_CLOEXEC);
        ssize_t count = descriptor < 0 ? -1 : read(descriptor, path, sizeof path - 1);
        close(descriptor);
        if (count > 0) break;
        poll(NULL, 0, 10);
    }
    notify(path, text + 1, -1);
}

static void store(const char *file, const char *text) {
    char partial[300];
    snprintf(partial, sizeof partial, "%s.partial", file);
    int descriptor = open(partial, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    write_all(descriptor, text, strlen(text));
    close(descriptor);
    rename(partial, file);
    report("stored", "%s", file);
}

// "N:TEXT" or "N": TEXT, by default a newline, to descriptor N, and closes it.
static void write_descriptor(const char *argument) {
    char *rest = NULL;
    int descriptor = (int)strtol(argument, &rest, 10);
    say(descriptor, *rest == ':' ? rest + 1 : "\\n");
    close(descriptor);
}

static char inherited[64];

void remember_status(void) {
    char bytes[8192] = "";
    int file = open("/proc/self/status", O_RDONLY | O_CLOEXEC);
    ssize_t length = read(file, bytes, sizeof bytes - 1);
    close(file);
    const char *blocked = length > 0 ? strstr(bytes, "SigBlk:\t") : NULL;
    const char *ignored = length > 0 ? strstr(bytes, "SigIgn:\t") : NULL;
    if (blocked && ignored) {
        snprintf(inherited, sizeof inherited, "SigBlk=%.16s SigIgn=%.16s", blocked + 8,
                 ignored + 8);
    }
}

static bool speak(const char *flag, const char *argument) {
    if (strcmp(flag, "--say") == 0) say(1, argument);
    else if (strcmp(flag, "--say-error") == 0) say(2, argument);
    else if (strcmp(flag, "--say-raw") == 0) say_hex(argument);
    else if (strcmp(flag, "--fill") == 0) fill(argument);
    else if (strcmp(flag, "--write-fd") == 0) write_descriptor(argument);
    else if (strcmp(flag, "--notify") == 0) notify(NULL, argument, -1);
    else if (strcmp(flag, "--notify-to") == 0) notify_to(argument);
    else if (strcmp(flag, "--notify-fd") == 0) notify(NULL, argument, 1);
    else if (strcmp(flag, "--mainpid") == 0) {
        char text[64];
        snprintf(text, sizeof text, "MAINPID=%s", argument);
        notify(NULL, text, -1);
    } else return false;
    return true;
}

bool perform(const struct act *act) {
    const char *flag = act->flag;
    const char *argument = act->argument;
    if (speak(flag, argument)) return true;
    if (strcmp(flag, "--pause") == 0) poll(NULL, 0, (int)(atof(argument) * 1000));
    else if (strcmp(flag, "--kid") == 0) start_kid(argument);
    else if (strcmp(flag, "--barriers") == 0) {
        for (int count = atoi(argument); count > 0; count--) barrier();
    } else if (strcmp(flag, "--port") == 0) listen_on(argument);
    else if (strcmp(flag, "--signal-self") == 0) signal_self(argument);
    else if (strcmp(flag, "--store") == 0) store(argument, "here\n");
    else if (strcmp(flag, "--store-notify") == 0) {
        const char *path = getenv("NOTIFY_SOCKET");
        store(argument, path ? path : "");
    } else if (strcmp(flag, "--print-env") == 0) copy_file("/proc/self/environ", argument);
    else if (strcmp(flag, "--print-status") == 0) report("status", "%s", inherited);
    else if (strcmp(flag, "--list-fds") == 0) list_descriptors();
    else if (strcmp(flag, "--read-stdin") == 0) read_stdin();
    else if (strcmp(flag, "--open-tty") == 0) open_terminal();
    else if (strcmp(flag, "--close-stdio") == 0) {
        close(1);
        close(2);
    } else if (strcmp(flag, "--quit") == 0) {
        report("quit", "%s", "");
        _exit(0);
    } else return false;
    return true;
}
