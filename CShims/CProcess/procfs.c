#include "internal.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

pid_t cproc_self(void) { return getpid(); }

bool cproc_is_main_thread(void) { return syscall(SYS_gettid) == getpid(); }

ssize_t cproc_read_at_start(int descriptor, char *buffer, size_t capacity)
{
    if (capacity == 0) return -EINVAL;
    size_t length = 0;
    while (length < capacity - 1) {
        ssize_t got = pread(descriptor, buffer + length, capacity - 1 - length, (off_t)length);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return -errno;
        if (got == 0) break;
        length += (size_t)got;
    }
    buffer[length] = '\0';
    return (ssize_t)length;
}

/* Reads a file of /proc/PID; a process that is gone is ESRCH however the kernel words it. */
static ssize_t read_of(pid_t pid, const char *name, char *buffer, size_t capacity)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/%s", pid, name);
    int descriptor = open(path, O_RDONLY | O_CLOEXEC);
    if (descriptor < 0) return errno == ENOENT ? -ESRCH : -errno;
    ssize_t length = cproc_read_at_start(descriptor, buffer, capacity);
    close(descriptor);
    return length;
}

int cproc_read_stat(pid_t pid, cproc_stat *stat)
{
    char text[1024];
    ssize_t length = read_of(pid, "stat", text, sizeof text);
    if (length < 0) return (int)-length;
    /* The name may hold anything, so the fields start after the *last* parenthesis. */
    const char *fields = strrchr(text, ')');
    unsigned long long start;
    if (fields == NULL ||
        sscanf(fields,
               ") %c %d %d %d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %*d %*d %llu",
               &stat->state, &stat->parent, &stat->group, &stat->session, &start) != 5)
        return ESRCH;
    stat->pid = pid;
    stat->start_time = start;
    return 0;
}

int cproc_read_command(pid_t pid, char *buffer, size_t capacity)
{
    if (capacity < 4) return EINVAL;
    ssize_t length = read_of(pid, "cmdline", buffer, capacity);
    if (length > 0) {
        for (ssize_t i = 0; i < length; i++)
            if (buffer[i] == '\0') buffer[i] = ' ';
        while (length > 0 && buffer[length - 1] == ' ') buffer[--length] = '\0';
        if (length > 0) return 0;
    }
    length = read_of(pid, "comm", buffer + 1, capacity - 2);
    if (length < 0) return (int)-length;
    if (length > 0 && buffer[length] == '\n') length--;
    buffer[0] = '[';
    buffer[length + 1] = ']';
    buffer[length + 2] = '\0';
    return 0;
}

int cproc_read_token(pid_t pid, uint64_t *token)
{
    /* prlimit(2) needs the same user or a capability; the text is open to all. */
    struct rlimit limit;
    if (prlimit(pid, RLIMIT_LOCKS, NULL, &limit) == 0) {
        *token = limit.rlim_cur;
        return limit.rlim_cur == RLIM_INFINITY ? ENODATA : 0;
    }
    if (errno != EPERM && errno != EACCES) return errno;
    char text[4096];
    ssize_t length = read_of(pid, "limits", text, sizeof text);
    if (length < 0) return (int)-length;
    const char *line = strstr(text, "Max file locks");
    unsigned long long value;
    if (line == NULL || sscanf(line, "Max file locks %llu", &value) != 1) return ENODATA;
    *token = value;
    return 0;
}

int cproc_read_variable(pid_t pid, const char *name, char *buffer, size_t capacity)
{
    enum { most = 256 * 1024 };
    char *text = malloc(most);
    if (text == NULL) return ENOMEM;
    ssize_t length = read_of(pid, "environ", text, most);
    int result = length < 0 ? (int)-length : ENODATA;
    size_t width = strlen(name);
    for (const char *each = text; length > 0 && each < text + length; each += strlen(each) + 1) {
        if (strncmp(each, name, width) != 0 || each[width] != '=') continue;
        result = snprintf(buffer, capacity, "%s", each + width + 1) < (int)capacity ? 0 : E2BIG;
        break;
    }
    free(text);
    return result;
}

/* Adds the numbers in an open `children` file to the count, and those that fit to the list. */
static ssize_t add_numbers(int descriptor, pid_t *list, size_t capacity, size_t count)
{
    char text[4096];
    pid_t number = 0;
    for (;;) {
        ssize_t length = read(descriptor, text, sizeof text);
        if (length < 0 && errno == EINTR) continue;
        if (length < 0) return -errno;
        if (length == 0) break;
        for (ssize_t i = 0; i < length; i++) {
            if (text[i] >= '0' && text[i] <= '9') {
                number = number * 10 + (text[i] - '0');
            } else if (number > 0) {
                if (count < capacity) list[count] = number;
                count++;
                number = 0;
            }
        }
    }
    return (ssize_t)count;
}

static ssize_t children_of_task(
    pid_t pid, pid_t thread, pid_t *list, size_t capacity, size_t count)
{
    char path[80];
    snprintf(path, sizeof path, "/proc/%d/task/%d/children", pid, thread);
    int descriptor = open(path, O_RDONLY | O_CLOEXEC);
    if (descriptor < 0) return -errno;
    ssize_t result = add_numbers(descriptor, list, capacity, count);
    close(descriptor);
    return result;
}

ssize_t cproc_thread_children(pid_t thread, pid_t *children, size_t capacity)
{
    return children_of_task(getpid(), thread, children, capacity, 0);
}

/* The next name in a directory of numbers; 0 at the end. */
static pid_t next_number(DIR *directory)
{
    const struct dirent *entry;
    while ((entry = readdir(directory)) != NULL) {
        if (entry->d_name[0] < '1' || entry->d_name[0] > '9') continue;
        return (pid_t)strtol(entry->d_name, NULL, 10);
    }
    return 0;
}

ssize_t cproc_children(pid_t pid, pid_t *children, size_t capacity)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/task", pid);
    DIR *threads = opendir(path);
    if (threads == NULL) return errno == ENOENT ? -ESRCH : -errno;
    ssize_t count = 0;
    for (pid_t thread; (thread = next_number(threads)) != 0;) {
        ssize_t more = children_of_task(pid, thread, children, capacity, (size_t)count);
        if (more >= 0) count = more; /* a thread that ended meanwhile has no children left */
    }
    closedir(threads);
    return count;
}

ssize_t cproc_all_processes(pid_t *processes, size_t capacity)
{
    DIR *all = opendir("/proc");
    if (all == NULL) return -errno;
    size_t count = 0;
    for (pid_t pid; (pid = next_number(all)) != 0; count++)
        if (count < capacity) processes[count] = pid;
    closedir(all);
    return (ssize_t)count;
}

int cproc_write_file(int directory, const char *name, const char *text)
{
    int descriptor = openat(directory, name, O_WRONLY | O_CLOEXEC);
    if (descriptor < 0) return errno;
    ssize_t written;
    do written = write(descriptor, text, strlen(text));
    while (written < 0 && errno == EINTR);
    int error = written < 0 ? errno : 0;
    close(descriptor);
    return error;
}
