/* See CLifecycleProbe.h. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "CLifecycleProbe.h"
#include "CLifecycle.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

_Static_assert(sizeof(struct sockaddr_in6) <= sizeof(((struct clc_address *)0)->bytes),
               "an address does not fit");

static void add_addresses(const char *host, uint16_t port, int flags,
                          struct clc_addresses *addresses)
{
    char service[8];
    struct addrinfo wanted = {.ai_socktype = SOCK_STREAM, .ai_flags = flags | AI_NUMERICSERV};
    struct addrinfo *found = NULL;
    (void)snprintf(service, sizeof service, "%u", (unsigned)port);
    addresses->failure = getaddrinfo(host, service, &wanted, &found);
    if (addresses->failure != 0)
        return;
    for (struct addrinfo *one = found; one; one = one->ai_next) {
        struct clc_address *address = &addresses->list[addresses->count];
        if (addresses->count == CLC_ADDRESSES_MAX || one->ai_addrlen > sizeof address->bytes)
            break;
        memcpy(address->bytes, one->ai_addr, one->ai_addrlen);
        address->length = one->ai_addrlen;
        addresses->count++;
    }
    freeaddrinfo(found);
}

void clc_find_addresses(const char *host, uint16_t port, bool lookup,
                        struct clc_addresses *addresses)
{
    memset(addresses, 0, sizeof *addresses);
    if (!lookup && strcmp(host, "localhost") == 0) {
        add_addresses("127.0.0.1", port, AI_NUMERICHOST, addresses);
        add_addresses("::1", port, AI_NUMERICHOST, addresses);
    } else {
        add_addresses(host, port, lookup ? 0 : AI_NUMERICHOST, addresses);
    }
}

const char *clc_lookup_text(int failure) { return gai_strerror(failure); }

int clc_begin_connect(const struct clc_address *address)
{
    struct sockaddr_storage name = {0};
    memcpy(&name, address->bytes, sizeof address->bytes);
    int fd = socket(name.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return -errno;
    if (connect(fd, (struct sockaddr *)&name, address->length) == 0 || errno == EINPROGRESS ||
        errno == EINTR)
        return fd;
    int failure = -errno;
    close(fd);
    return failure;
}

int clc_connect_outcome(int descriptor)
{
    int failure = 0;
    socklen_t size = sizeof failure;
    if (getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &failure, &size) < 0)
        return -errno;
    if (failure != 0)
        return -failure;
    struct sockaddr_storage ours = {0}, theirs = {0};
    socklen_t our_size = sizeof ours, their_size = sizeof theirs;
    if (getpeername(descriptor, (struct sockaddr *)&theirs, &their_size) < 0 ||
        getsockname(descriptor, (struct sockaddr *)&ours, &our_size) < 0)
        return -errno;
    if (our_size == their_size && memcmp(&ours, &theirs, our_size) == 0)
        return -ECONNREFUSED;
    return 0;
}

static int try_type(const struct sockaddr_un *name, socklen_t size, int type)
{
    int fd = socket(AF_UNIX, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return -errno;
    int result = connect(fd, (const struct sockaddr *)name, size) < 0 ? -errno : 0;
    close(fd);
    return result;
}

int clc_try_unix(const char *path)
{
    static const int types[] = {SOCK_STREAM, SOCK_SEQPACKET, SOCK_DGRAM};
    struct sockaddr_un name = {.sun_family = AF_UNIX};
    size_t length = strlen(path);
    if (length > CLC_PATH_MAX)
        return -ENAMETOOLONG;
    memcpy(name.sun_path, path, length);
    bool is_abstract = path[0] == '@';
    if (is_abstract)
        name.sun_path[0] = 0;
    socklen_t size = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + length + !is_abstract);
    int result = -EPROTOTYPE;
    for (int i = 0; i < 3 && result == -EPROTOTYPE; i++)
        result = try_type(&name, size, types[i]);
    return result;
}
