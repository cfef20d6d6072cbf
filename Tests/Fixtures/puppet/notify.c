#include "puppet.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static size_t put_number(char *bytes, size_t place, size_t capacity, pid_t number) {
    char digits[16];
    int length = snprintf(digits, sizeof digits, "%d", number);
    for (int digit = 0; digit < length && place < capacity; digit++) bytes[place++] = digits[digit];
    return place;
}

size_t unescape(const char *text, char *bytes, size_t capacity) {
    size_t length = 0;
    for (const char *place = text; *place && length < capacity; place++) {
        if (*place == '%' && (place[1] == 'p' || place[1] == 'k')) {
            length = put_number(bytes, length, capacity, place[1] == 'p' ? getpid() : last_kid);
            place++;
        } else if (*place == '\\' && place[1] == 'n') {
            bytes[length++] = '\n';
            place++;
        } else if (*place == '\\' && place[1] == 'x' && place[2] && place[3]) {
            char hex[3] = {place[2], place[3], 0};
            bytes[length++] = (char)strtol(hex, NULL, 16);
            place += 3;
        } else if (*place == '\\' && place[1] == '\\') {
            bytes[length++] = '\\';
            place++;
        } else {
            bytes[length++] = *place;
        }
    }
    return length;
}

static bool send_bytes(const char *path, const char *bytes, size_t length, int descriptor) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    size_t path_length = strlen(path);
    if (path_length >= sizeof address.sun_path) return false;
    memcpy(address.sun_path, path, path_length);
    if (path[0] == '@') address.sun_path[0] = 0;

    union {
        struct cmsghdr header;
        char space[CMSG_SPACE(sizeof(int))];
    } control = {0};
    struct iovec part = {.iov_base = (void *)(uintptr_t)bytes, .iov_len = length};
    struct msghdr message = {
        .msg_name = &address,
        .msg_namelen = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + path_length),
        .msg_iov = &part,
        .msg_iovlen = 1,
    };
    if (descriptor >= 0) {
        control.header.cmsg_len = CMSG_LEN(sizeof(int));
        control.header.cmsg_level = SOL_SOCKET;
        control.header.cmsg_type = SCM_RIGHTS;
        memcpy(CMSG_DATA(&control.header), &descriptor, sizeof descriptor);
        message.msg_control = &control;
        message.msg_controllen = sizeof control.space;
    }
    int socket_fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (socket_fd < 0) return false;
    ssize_t sent = sendmsg(socket_fd, &message, MSG_NOSIGNAL);
    int failure = errno;
    close(socket_fd);
    errno = failure;
    return sent >= 0;
}

bool notify(const char *path, const char *text, int descriptor) {
    static char bytes[128 << 10];
    if (!path) path = getenv("NOTIFY_SOCKET");
    if (!path || !*path) {
        report("no-notify-socket", "%s", "");
        return false;
    }
    size_t length = 0;
    if (strncmp(text, "fill:", 5) == 0) {
        length = (size_t)atoi(text + 5);
        if (length > sizeof bytes) length = sizeof bytes;
        memset(bytes, 'x', length);
    } else {
        length = unescape(text, bytes, sizeof bytes);
    }
    if (!send_bytes(path, bytes, length, descriptor)) {
        report("not-sent", "%s %s", strerror(errno), text);
        return false;
    }
    report("sent", "%s", text);
    return true;
}

void storm(void) {
    static const char *const texts[] = {
        "STATUS=in a storm", "WATCHDOG=1", "READY=1", "MAINPID=1", "X_STORM=1", "READY=11", "=",
        "EXTEND_TIMEOUT_USEC=1000", "STATUS=\xff\n\n\nSTATUS=",
    };
    static size_t place = 0;
    static int descriptor = -1;
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    const char *path = getenv("NOTIFY_SOCKET");
    if (!path || strlen(path) >= sizeof address.sun_path) return;
    strcpy(address.sun_path, path);
    if (descriptor < 0) descriptor = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    const char *text = texts[place++ % (sizeof texts / sizeof *texts)];
    ssize_t sent = sendto(
        descriptor, text, strlen(text), MSG_NOSIGNAL | MSG_DONTWAIT,
        (struct sockaddr *)&address, sizeof address);
    (void)sent;
}

void barrier(void) {
    int ends[2];
    if (pipe(ends) != 0) return;
    double begun = now();
    bool sent = notify(NULL, "BARRIER=1", ends[1]);
    close(ends[1]);
    struct pollfd closed = {.fd = ends[0], .events = POLLIN};
    int result = sent ? poll(&closed, 1, 5000) : -1;
    close(ends[0]);
    report(result > 0 ? "barrier-passed" : "barrier-timeout", "%.0f", (now() - begun) * 1000);
}
