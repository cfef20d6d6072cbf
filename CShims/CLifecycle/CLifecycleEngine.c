/* See CLifecycleEngine.h. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "CLifecycleEngine.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

/* The most descriptors the kernel lets one message carry (SCM_MAX_FD). */
#define DESCRIPTORS_MAX 253

static int asks_for_credentials(int fd)
{
    int on = 1;
    return setsockopt(fd, SOL_SOCKET, SO_PASSCRED, &on, sizeof on) < 0 ? -errno : 0;
}

int clc_bind_notify(const char *path, uid_t owner)
{
    struct sockaddr_un name = {.sun_family = AF_UNIX};
    size_t length = strlen(path);
    if (length > CLC_PATH_MAX)
        return -ENAMETOOLONG;
    memcpy(name.sun_path, path, length + 1);
    int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return -errno;
    /* Linux gives the file the mode of the socket, so it is never open to others, not even between
     * bind and a chmod. Credentials are asked for before anybody can send. */
    int failure = asks_for_credentials(fd);
    if (failure == 0 && fchmod(fd, 0600) < 0)
        failure = -errno;
    if (failure == 0 && bind(fd, (struct sockaddr *)&name, sizeof name) < 0)
        failure = -errno;
    else if (failure == 0 && owner != geteuid() &&
             fchownat(AT_FDCWD, path, owner, (gid_t)-1, AT_SYMLINK_NOFOLLOW) < 0) {
        failure = -errno;
        (void)unlink(path);
    }
    if (failure == 0)
        return fd;
    close(fd);
    return failure;
}

int clc_make_channel(int *parent, int *child)
{
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0)
        return -errno;
    int failure = asks_for_credentials(ends[0]);
    int flags = fcntl(ends[0], F_GETFL);
    if (failure == 0 && (flags < 0 || fcntl(ends[0], F_SETFL, flags | O_NONBLOCK) < 0))
        failure = -errno;
    if (failure < 0) {
        close(ends[0]);
        close(ends[1]);
        return failure;
    }
    *parent = ends[0];
    *child = ends[1];
    return 0;
}

static void close_all(const struct cmsghdr *entry, struct clc_datagram *datagram)
{
    size_t bytes = entry->cmsg_len - CMSG_LEN(0);
    for (size_t at = 0; at + sizeof(int) <= bytes; at += sizeof(int)) {
        int fd;
        memcpy(&fd, CMSG_DATA(entry) + at, sizeof fd);
        close(fd);
        datagram->descriptors++;
    }
}

int clc_receive(int socket, struct clc_datagram *datagram)
{
    /* One per thread that receives, so that a thousand silent services cost no buffer each, nor any
     * other thread its 64 KiB. */
    static _Thread_local unsigned char *buffer;
    if (!buffer)
        buffer = malloc(CLC_DATAGRAM_MAX);
    if (!buffer)
        return -ENOMEM;
    union {
        struct cmsghdr align;
        char bytes[CMSG_SPACE(sizeof(struct ucred)) + CMSG_SPACE(DESCRIPTORS_MAX * sizeof(int)) +
                   CMSG_SPACE(256)];
    } control;
    struct iovec part = {.iov_base = buffer, .iov_len = CLC_DATAGRAM_MAX};
    struct msghdr header = {.msg_iov = &part,
                            .msg_iovlen = 1,
                            .msg_control = control.bytes,
                            .msg_controllen = sizeof control.bytes};
    ssize_t length;
    do
        length = recvmsg(socket, &header, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
    while (length < 0 && errno == EINTR);
    if (length < 0)
        return errno == EAGAIN || errno == EWOULDBLOCK ? 0 : -errno;
    *datagram = (struct clc_datagram){.bytes = buffer,
                                      .length = (size_t)length,
                                      .truncated = (header.msg_flags & MSG_TRUNC) != 0,
                                      .uid = (uid_t)-1};
    bool has_sender = false;
    for (struct cmsghdr *entry = CMSG_FIRSTHDR(&header); entry;
         entry = CMSG_NXTHDR(&header, entry)) {
        if (entry->cmsg_level != SOL_SOCKET)
            continue;
        if (entry->cmsg_type == SCM_RIGHTS) {
            close_all(entry, datagram);
        } else if (entry->cmsg_type == SCM_CREDENTIALS) {
            struct ucred sender;
            memcpy(&sender, CMSG_DATA(entry), sizeof sender);
            datagram->pid = sender.pid;
            datagram->uid = sender.uid;
            has_sender = true;
        }
    }
    /* An empty message has a sender; the end of a channel has none. */
    datagram->ended = length == 0 && !has_sender;
    return 1;
}

uint64_t clc_monotonic_microseconds(void)
{
    struct timespec time = {0};
    (void)clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000 + (uint64_t)time.tv_nsec / 1000;
}

bool clc_has_ended(pid_t pid)
{
    if (pid <= 0)
        return false;
    int fd = (int)syscall(SYS_pidfd_open, pid, 0u);
    if (fd < 0)
        return errno == ESRCH;
    struct pollfd end = {.fd = fd, .events = POLLIN};
    int found;
    do
        found = poll(&end, 1, 0);
    while (found < 0 && errno == EINTR);
    close(fd);
    return found > 0 && (end.revents & POLLIN) != 0;
}
