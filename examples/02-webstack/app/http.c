#define _GNU_SOURCE
#include "http.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

int http_listen(const char *path) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    if (strlen(path) >= sizeof address.sun_path) {
        errno = ENAMETOOLONG;
        return -1;
    }
    strcpy(address.sun_path, path);
    unlink(path);
    int listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (listener < 0) return -1;
    if (bind(listener, (struct sockaddr *)&address, sizeof address) != 0 ||
        listen(listener, 64) != 0) {
        close(listener);
        return -1;
    }
    return listener;
}

// Reads to the empty line that ends the head; a body is not looked at.
static bool read_head(int connection) {
    char head[8192];
    size_t length = 0;
    while (length < sizeof head - 1) {
        ssize_t count = read(connection, head + length, sizeof head - 1 - length);
        if (count <= 0) return false;
        length += (size_t)count;
        head[length] = 0;
        if (strstr(head, "\r\n\r\n")) return true;
    }
    return false;
}

int http_accept(int listener) {
    int connection = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
    if (connection < 0) return -1;
    struct timeval bound = {.tv_sec = 2};
    setsockopt(connection, SOL_SOCKET, SO_RCVTIMEO, &bound, sizeof bound);
    setsockopt(connection, SOL_SOCKET, SO_SNDTIMEO, &bound, sizeof bound);
    if (read_head(connection)) return connection;
    close(connection);
    return -1;
}

void http_answer(int connection, bool is_good, const char *body) {
    char answer[4096];
    int length = snprintf(answer, sizeof answer,
                          "HTTP/1.0 %s\r\nContent-Type: application/json\r\n"
                          "Content-Length: %zu\r\nConnection: close\r\n\r\n%s",
                          is_good ? "200 OK" : "503 Service Unavailable", strlen(body), body);
    if (send(connection, answer, (size_t)length, MSG_NOSIGNAL) < 0) perror("app: cannot answer");
    close(connection);
}
