#include "internal.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

int cproc_peer_credentials(int socket, cproc_credentials *credentials)
{
    struct ucred peer;
    socklen_t size = sizeof peer;
    if (getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0) return errno;
    *credentials = (cproc_credentials){ peer.pid, peer.uid, peer.gid };
    return 0;
}

int cproc_pass_credentials(int socket)
{
    int on = 1;
    return setsockopt(socket, SOL_SOCKET, SO_PASSCRED, &on, sizeof on) == 0 ? 0 : errno;
}

/* Hands out the descriptors that fit and closes the others. */
static void take_descriptors(
    const struct cmsghdr *header, int *descriptors, size_t capacity, cproc_message *message)
{
    size_t count = (header->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (size_t i = 0; i < count; i++) {
        int descriptor;
        memcpy(&descriptor, CMSG_DATA(header) + i * sizeof descriptor, sizeof descriptor);
        if (descriptors != NULL && message->descriptor_count < capacity) {
            descriptors[message->descriptor_count++] = descriptor;
        } else {
            close(descriptor);
            message->lost_descriptors = true;
        }
    }
}

int cproc_receive(
    int socket, void *buffer, size_t capacity, int *descriptors, size_t descriptor_capacity,
    cproc_message *message)
{
    /* Room for everything that can come, so that the kernel never cuts a set of descriptors short
     * in a way we cannot see. */
    union {
        struct cmsghdr align;
        char bytes[CMSG_SPACE(sizeof(struct ucred)) +
                   CMSG_SPACE(sizeof(int) * CPROC_MESSAGE_DESCRIPTORS)];
    } control;
    struct iovec text = { buffer, capacity };
    struct msghdr header = {
        .msg_iov = &text, .msg_iovlen = 1,
        .msg_control = control.bytes, .msg_controllen = sizeof control.bytes,
    };
    memset(message, 0, sizeof *message);
    ssize_t length;
    do length = recvmsg(socket, &header, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
    while (length < 0 && errno == EINTR);
    if (length < 0) return errno;
    message->length = (size_t)length;
    message->truncated = (header.msg_flags & MSG_TRUNC) != 0;
    message->lost_descriptors = (header.msg_flags & MSG_CTRUNC) != 0;
    for (struct cmsghdr *each = CMSG_FIRSTHDR(&header); each != NULL;
         each = CMSG_NXTHDR(&header, each)) {
        if (each->cmsg_level != SOL_SOCKET) continue;
        if (each->cmsg_type == SCM_RIGHTS)
            take_descriptors(each, descriptors, descriptor_capacity, message);
        if (each->cmsg_type == SCM_CREDENTIALS &&
            each->cmsg_len >= CMSG_LEN(sizeof(struct ucred))) {
            struct ucred sender;
            memcpy(&sender, CMSG_DATA(each), sizeof sender);
            message->has_credentials = true;
            message->credentials = (cproc_credentials){ sender.pid, sender.uid, sender.gid };
        }
    }
    return 0;
}

int cproc_send(
    int socket, const void *buffer, size_t length, const int *descriptors,
    size_t descriptor_count)
{
    if (descriptor_count > CPROC_MESSAGE_DESCRIPTORS) return EINVAL;
    union {
        struct cmsghdr align;
        char bytes[CMSG_SPACE(sizeof(int) * CPROC_MESSAGE_DESCRIPTORS)];
    } control;
    /* sendmsg does not write to the text; its type is older than const. */
    struct iovec text = { (void *)(uintptr_t)buffer, length };
    struct msghdr header = { .msg_iov = &text, .msg_iovlen = 1 };
    if (descriptor_count > 0) {
        memset(&control, 0, sizeof control);
        header.msg_control = control.bytes;
        header.msg_controllen = CMSG_SPACE(sizeof(int) * descriptor_count);
        struct cmsghdr *rights = CMSG_FIRSTHDR(&header);
        rights->cmsg_level = SOL_SOCKET;
        rights->cmsg_type = SCM_RIGHTS;
        rights->cmsg_len = CMSG_LEN(sizeof(int) * descriptor_count);
        memcpy(CMSG_DATA(rights), descriptors, sizeof(int) * descriptor_count);
    }
    ssize_t sent;
    do sent = sendmsg(socket, &header, MSG_DONTWAIT | MSG_NOSIGNAL);
    while (sent < 0 && errno == EINTR);
    return sent < 0 ? errno : 0;
}
