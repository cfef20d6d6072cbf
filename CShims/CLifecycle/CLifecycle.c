/* See CLifecycle.h: the line format, and the client of a daemon. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "CLifecycle.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

/* ---- Reading ---- */

enum shape { SHAPE_ONE, SHAPE_NUMBER, SHAPE_TEXT, SHAPE_WATCHDOG };

static const struct rule {
    const char *key;
    enum clc_kind kind;
    enum shape shape;
    uint64_t most;
} rules[] = {
    {"READY", CLC_READY, SHAPE_ONE, 0},
    {"STATUS", CLC_STATUS, SHAPE_TEXT, 0},
    {"STOPPING", CLC_STOPPING, SHAPE_ONE, 0},
    {"RELOADING", CLC_RELOADING, SHAPE_ONE, 0},
    {"MAINPID", CLC_MAINPID, SHAPE_NUMBER, INT32_MAX},
    {"WATCHDOG", CLC_WATCHDOG_PING, SHAPE_WATCHDOG, 0},
    {"WATCHDOG_USEC", CLC_WATCHDOG_USEC, SHAPE_NUMBER, UINT64_MAX},
    {"EXTEND_TIMEOUT_USEC", CLC_EXTEND_TIMEOUT_USEC, SHAPE_NUMBER, UINT64_MAX},
    {"ERRNO", CLC_ERRNO, SHAPE_NUMBER, INT32_MAX},
    {"BARRIER", CLC_BARRIER, SHAPE_ONE, 0},
    {"FDSTORE", CLC_FDSTORE, SHAPE_ONE, 0},
    {"HELLO", CLC_HELLO, SHAPE_ONE, 0},
    {"STOP", CLC_STOP, SHAPE_ONE, 0},
    {"RELOAD", CLC_RELOAD, SHAPE_ONE, 0},
    {"REASON", CLC_REASON, SHAPE_TEXT, 0},
    {"DEADLINE_USEC", CLC_DEADLINE_USEC, SHAPE_NUMBER, UINT64_MAX},
};

static const char value_prefix[] = "VALUE_";
#define VALUE_PREFIX_LENGTH (sizeof value_prefix - 1)

/* No locale decides what a letter is here. */
static bool is_name(const char *bytes, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        char c = bytes[i];
        bool fits = (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') ||
                    c == '_' || c == '-' || c == '.';
        if (!fits)
            return false;
    }
    return length > 0;
}

/* The length of the UTF-8 character at `bytes`; 0 where there is none (RFC 3629: no surrogates, no
 * overlong forms, nothing beyond U+10FFFF). */
static size_t character_length(const unsigned char *bytes, size_t left)
{
    unsigned char first = bytes[0];
    if (first < 0x80)
        return 1;
    size_t length = first >= 0xC2 && first <= 0xDF   ? 2
                    : first >= 0xE0 && first <= 0xEF ? 3
                    : first >= 0xF0 && first <= 0xF4 ? 4
                                                     : 0;
    if (length == 0 || length > left)
        return 0;
    unsigned char low = first == 0xE0 ? 0xA0 : first == 0xF0 ? 0x90 : 0x80;
    unsigned char high = first == 0xED ? 0x9F : first == 0xF4 ? 0x8F : 0xBF;
    if (bytes[1] < low || bytes[1] > high)
        return 0;
    for (size_t i = 2; i < length; i++)
        if (bytes[i] < 0x80 || bytes[i] > 0xBF)
            return 0;
    return length;
}

static bool is_text(const char *bytes, size_t length)
{
    for (size_t i = 0; i < length;) {
        size_t step = character_length((const unsigned char *)bytes + i, length - i);
        if (step == 0 || bytes[i] == 0)
            return false;
        i += step;
    }
    return true;
}

static bool read_number(const char *bytes, size_t length, uint64_t most, uint64_t *number)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < length; i++) {
        if (bytes[i] < '0' || bytes[i] > '9')
            return false;
        uint64_t digit = (uint64_t)(bytes[i] - '0');
        if (sum > (UINT64_MAX - digit) / 10)
            return false;
        sum = sum * 10 + digit;
    }
    *number = sum;
    return length > 0 && sum <= most;
}

static bool equals(const char *bytes, size_t length, const char *text)
{
    return length == strlen(text) && memcmp(bytes, text, length) == 0;
}

static void refuse(struct clc_item *item, const char *reason)
{
    item->kind = CLC_MALFORMED;
    item->number = 0;
    item->text = reason;
    item->text_length = strlen(reason);
}

/* Fills in the value of a line whose key is known. */
static void read_value(struct clc_item *item, const struct rule *rule, const char *value,
                       size_t length)
{
    item->kind = rule->kind;
    switch (rule->shape) {
    case SHAPE_ONE:
        if (!equals(value, length, "1"))
            refuse(item, "its only value is 1");
        break;
    case SHAPE_NUMBER:
        if (!read_number(value, length, rule->most, &item->number))
            refuse(item, "not a number, or beyond its range");
        break;
    case SHAPE_TEXT:
        item->text = value;
        item->text_length = length;
        break;
    case SHAPE_WATCHDOG:
        if (equals(value, length, "trigger"))
            item->kind = CLC_WATCHDOG_TRIGGER;
        else if (!equals(value, length, "1"))
            refuse(item, "its only values are 1 and trigger");
        break;
    }
}

/* Returns whether the line means something. */
static bool read_line(const char *line, size_t length, struct clc_item *item)
{
    memset(item, 0, sizeof *item);
    const char *sign = memchr(line, '=', length);
    size_t key = sign ? (size_t)(sign - line) : 0;
    if (!sign || !is_name(line, key)) {
        refuse(item, "not a line KEY=value");
        return true;
    }
    const char *value = sign + 1;
    size_t rest = length - key - 1;
    item->name = line;
    item->name_length = key;
    if (!is_text(value, rest)) {
        refuse(item, "its value is not UTF-8 text");
        return true;
    }
    if (key > VALUE_PREFIX_LENGTH && memcmp(line, value_prefix, VALUE_PREFIX_LENGTH) == 0) {
        item->kind = CLC_VALUE;
        item->name = line + VALUE_PREFIX_LENGTH;
        item->name_length = key - VALUE_PREFIX_LENGTH;
        item->text = value;
        item->text_length = rest;
        if (item->name_length > CLC_NAME_MAX)
            refuse(item, "the name of the value is longer than 64 bytes");
        return true;
    }
    for (size_t i = 0; i < sizeof rules / sizeof rules[0]; i++)
        if (equals(line, key, rules[i].key)) {
            read_value(item, &rules[i], value, rest);
            return true;
        }
    return false;
}

void clc_parse(const void *bytes, size_t length, clc_reader reader, void *context)
{
    const char *next = bytes;
    struct clc_item item;
    if (length > 0 && next[length - 1] == 0)
        length--;
    for (int lines = 0; length > 0; lines++) {
        const char *end = memchr(next, '\n', length);
        size_t line = end ? (size_t)(end - next) : length;
        if (lines == CLC_LINES_MAX) {
            memset(&item, 0, sizeof item);
            refuse(&item, "a message of more than 256 lines");
            reader(context, &item);
            return;
        }
        if (line > 0 && read_line(next, line, &item))
            reader(context, &item);
        size_t used = end ? line + 1 : line;
        next += used;
        length -= used;
    }
}

/* ---- Writing ---- */

size_t clc_write_text(char *buffer, size_t capacity, size_t used, const char *key,
                      const char *text)
{
    size_t length = strlen(key), left = strlen(text);
    if (used > capacity || capacity - used < length + 2)
        return used;
    memcpy(buffer + used, key, length);
    used += length;
    buffer[used++] = '=';
    const unsigned char *bytes = (const unsigned char *)text;
    while (left > 0) {
        size_t step = character_length(bytes, left);
        bool plain = step > 1 || (step == 1 && bytes[0] >= 0x20 && bytes[0] != 0x7F);
        if (step == 0)
            step = 1;
        if (capacity - used < step + 1)
            break;
        if (plain)
            memcpy(buffer + used, bytes, step);
        else
            buffer[used] = bytes[0] < 0x80 ? ' ' : '?';
        used += step;
        bytes += step;
        left -= step;
    }
    buffer[used++] = '\n';
    return used;
}

size_t clc_write_number(char *buffer, size_t capacity, size_t used, const char *key,
                        uint64_t number)
{
    char digits[24];
    int count = snprintf(digits, sizeof digits, "%llu", (unsigned long long)number);
    if (count < 0 || used > capacity || capacity - used < strlen(key) + (size_t)count + 2)
        return used;
    return clc_write_text(buffer, capacity, used, key, digits);
}

/* ---- Sending ---- */

/* Milliseconds of awake time: a wait that slept through a suspension was not too long. */
static uint64_t now(void)
{
    struct timespec time = {0};
    (void)clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000 + (uint64_t)time.tv_nsec / 1000000;
}

int clc_send(int socket, const void *bytes, size_t length, int descriptor, int wait)
{
    union {
        struct cmsghdr align;
        char bytes[CMSG_SPACE(sizeof(int))];
    } control;
    struct iovec part = {.iov_base = (void *)(uintptr_t)bytes, .iov_len = length};
    struct msghdr header = {.msg_iov = &part, .msg_iovlen = 1};
    if (descriptor >= 0) {
        memset(&control, 0, sizeof control);
        header.msg_control = control.bytes;
        header.msg_controllen = sizeof control.bytes;
        struct cmsghdr *entry = CMSG_FIRSTHDR(&header);
        entry->cmsg_level = SOL_SOCKET;
        entry->cmsg_type = SCM_RIGHTS;
        entry->cmsg_len = CMSG_LEN(sizeof(int));
        memcpy(CMSG_DATA(entry), &descriptor, sizeof descriptor);
    }
    for (uint64_t end = now() + (uint64_t)(wait > 0 ? wait : 0);;) {
        ssize_t sent = sendmsg(socket, &header, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (sent >= 0)
            return 1;
        if (errno == EINTR)
            continue;
        int failure = errno;
        uint64_t moment = now();
        if ((failure != EAGAIN && failure != ENOBUFS) || moment >= end)
            return -failure;
        struct pollfd room = {.fd = socket, .events = POLLOUT};
        (void)poll(&room, 1, (int)(end - moment));
    }
}

int clc_send_to(const char *address, const void *bytes, size_t length, int descriptor, int wait)
{
    struct sockaddr_un name = {.sun_family = AF_UNIX};
    size_t size = strlen(address);
    if (size < 2 || (address[0] != '/' && address[0] != '@'))
        return -EINVAL;
    if (size > CLC_PATH_MAX)
        return -ENAMETOOLONG;
    memcpy(name.sun_path, address, size);
    if (address[0] == '@')
        name.sun_path[0] = 0;
    socklen_t span = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + size);
    if (address[0] == '/')
        span += 1;
    int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return -errno;
    /* Connected, so that poll tells when the receiver has room again. */
    int result = connect(fd, (struct sockaddr *)&name, span) < 0 ? -errno : 1;
    if (result > 0)
        result = clc_send(fd, bytes, length, descriptor, wait);
    close(fd);
    return result;
}

/* ---- The client ---- */

/* The longest a message waits for room, in milliseconds. */
#define ROOM_WAIT 1000

/* Written by clc_open and by the one thread that reads; a sender only looks. The descriptor of an
 * ended channel stays open, so that its number cannot come to mean something else. */
static int channel = -1;
static int channel_failure;
static bool channel_is_settled;

static int say(const char *text, size_t length, int descriptor)
{
    int open = __atomic_load_n(&channel, __ATOMIC_ACQUIRE);
    if (open >= 0)
        return clc_send(open, text, length, descriptor, ROOM_WAIT);
    const char *address = getenv("NOTIFY_SOCKET");
    if (!address || !*address)
        return 0;
    return clc_send_to(address, text, length, descriptor, ROOM_WAIT);
}

static int say_text(const char *key, const char *text)
{
    char line[CLC_TEXT_MAX + CLC_NAME_MAX + 16];
    return say(line, clc_write_text(line, sizeof line, 0, key, text), -1);
}

static int say_number(const char *key, uint64_t number)
{
    char line[64];
    return say(line, clc_write_number(line, sizeof line, 0, key, number), -1);
}

int clc_notify(const char *text) { return say(text, strlen(text), -1); }
int clc_ready(void) { return clc_notify("READY=1\n"); }
int clc_status_text(const char *text) { return say_text("STATUS", text); }
int clc_stopping(void) { return clc_notify("STOPPING=1\n"); }
int clc_extend_timeout(uint64_t microseconds)
{
    return say_number("EXTEND_TIMEOUT_USEC", microseconds);
}
int clc_watchdog_ping(void) { return clc_notify("WATCHDOG=1\n"); }

int clc_reloading(void)
{
    struct timespec time = {0};
    (void)clock_gettime(CLOCK_MONOTONIC, &time);
    char text[128] = "RELOADING=1\n";
    uint64_t moment = (uint64_t)time.tv_sec * 1000000 + (uint64_t)time.tv_nsec / 1000;
    size_t used = strlen(text);
    return say(text, clc_write_number(text, sizeof text, used, "MONOTONIC_USEC", moment), -1);
}

int clc_status(const char *format, ...)
{
    char text[CLC_TEXT_MAX];
    va_list rest;
    va_start(rest, format);
    int length = vsnprintf(text, sizeof text, format, rest);
    va_end(rest);
    return length < 0 ? -EINVAL : clc_status_text(text);
}

int clc_value(const char *name, const char *text)
{
    char key[VALUE_PREFIX_LENGTH + CLC_NAME_MAX + 1];
    size_t length = strlen(name);
    if (length > CLC_NAME_MAX || !is_name(name, length))
        return -EINVAL;
    memcpy(key, value_prefix, VALUE_PREFIX_LENGTH);
    memcpy(key + VALUE_PREFIX_LENGTH, name, length + 1);
    return say_text(key, text);
}

uint64_t clc_watchdog_interval(void)
{
    const char *interval = getenv("WATCHDOG_USEC"), *process = getenv("WATCHDOG_PID");
    uint64_t number = 0, pid = 0;
    if (process && (!read_number(process, strlen(process), INT32_MAX, &pid) ||
                    pid != (uint64_t)getpid()))
        return 0;
    if (!interval || !read_number(interval, strlen(interval), UINT64_MAX - 1, &number))
        return 0;
    return number;
}

int clc_notify_barrier(uint64_t timeout)
{
    static const char text[] = "BARRIER=1\n";
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) < 0)
        return -errno;
    int result = say(text, sizeof text - 1, ends[1]);
    close(ends[1]);
    struct pollfd answer = {.fd = ends[0]};
    uint64_t wait = timeout / 1000 + (timeout % 1000 != 0);
    for (uint64_t start = now(), past = 0; result == 1 && !answer.revents; past = now() - start) {
        uint64_t left = past < wait ? wait - past : 0;
        int found = poll(&answer, 1, left > INT_MAX ? INT_MAX : (int)left);
        if (found < 0 && errno != EINTR)
            result = -errno;
        else if (found == 0 && left == 0)
            result = -ETIMEDOUT;
    }
    close(ends[0]);
    return result;
}

static int find_channel(void)
{
    const char *text = getenv("ORCHESTRATOR_FD");
    uint64_t number = 0;
    if (!text)
        return -ENOENT;
    bool is_number = read_number(text, strlen(text), INT_MAX, &number);
    (void)unsetenv("ORCHESTRATOR_FD");
    int type = 0;
    socklen_t size = sizeof type;
    if (!is_number)
        return -EINVAL;
    /* A number that names something else now is not ours to touch. */
    if (getsockopt((int)number, SOL_SOCKET, SO_TYPE, &type, &size) < 0)
        return -errno;
    if (type != SOCK_SEQPACKET)
        return -EPROTOTYPE;
    if (fcntl((int)number, F_SETFD, FD_CLOEXEC) < 0)
        return -errno;
    return (int)number;
}

int clc_open(void)
{
    if (!channel_is_settled) {
        int found = find_channel();
        channel_is_settled = true;
        channel_failure = found < 0 ? found : 0;
        __atomic_store_n(&channel, found < 0 ? -1 : found, __ATOMIC_RELEASE);
        if (found >= 0)
            (void)clc_notify("HELLO=1\n");
    }
    int open = clc_fd();
    return open >= 0 ? open : channel_failure;
}

int clc_fd(void) { return __atomic_load_n(&channel, __ATOMIC_ACQUIRE); }

static void take_item(void *context, const struct clc_item *item)
{
    struct clc_message *message = context;
    if (item->kind == CLC_STOP || (item->kind == CLC_RELOAD && message->kind != CLC_STOP)) {
        message->kind = item->kind;
    } else if (item->kind == CLC_DEADLINE_USEC) {
        message->deadline = item->number;
    } else if (item->kind == CLC_REASON) {
        size_t length = 0, step;
        const unsigned char *bytes = (const unsigned char *)item->text;
        while (length < item->text_length) {
            step = character_length(bytes + length, item->text_length - length);
            if (step == 0 || length + step >= sizeof message->reason)
                break;
            length += step;
        }
        memcpy(message->reason, item->text, length);
        message->reason[length] = 0;
    }
}

int clc_next(struct clc_message *message)
{
    char bytes[8192];
    int open = clc_fd();
    if (open < 0)
        return channel_failure ? channel_failure : -ENOENT;
    for (;;) {
        /* Plain recv: descriptors that come along are dropped by the kernel. */
        ssize_t length = recv(open, bytes, sizeof bytes, MSG_DONTWAIT);
        if (length < 0 && errno == EINTR)
            continue;
        if (length < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
            return 0;
        if (length <= 0) {
            channel_failure = length < 0 ? -errno : -EPIPE;
            __atomic_store_n(&channel, -1, __ATOMIC_RELEASE);
            return channel_failure;
        }
        memset(message, 0, sizeof *message);
        message->deadline = UINT64_MAX;
        clc_parse(bytes, (size_t)length, take_item, message);
        if (message->kind != 0)
            return 1;
    }
}
