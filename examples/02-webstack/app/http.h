// As much of HTTP/1.0 as stands behind a proxy on a Unix socket.
#ifndef HTTP_H
#define HTTP_H

#include <stdbool.h>

// Listens on a Unix socket at `path`, replacing what a killed predecessor left. -1 with errno.
int http_listen(const char *path);

// Takes one connection and reads its request, within two seconds. -1 where there was none.
int http_accept(int listener);

// Answers with a JSON text, and closes.
void http_answer(int connection, bool is_good, const char *body);

#endif
