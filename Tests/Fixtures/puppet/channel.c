#include "puppet.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

int open_channel(void) {
    const char *number = getenv("ORCHESTRATOR_FD");
    if (!number) {
        report("no-channel", "%s", "");
        return -1;
    }
    int channel = atoi(number);
    fcntl(channel, F_SETFD, FD_CLOEXEC);
    unsetenv("ORCHESTRATOR_FD");
    if (send(channel, "HELLO=1\n", 8, MSG_NOSIGNAL) < 0) {
        report("channel-failed", "%s", strerror(errno));
        return -1;
    }
    report("channel-opened", "%s", "");
    return channel;
}

bool read_channel(int channel) {
    char bytes[longest_text] = "";
    ssize_t length = recv(channel, bytes, sizeof bytes - 1, 0);
    if (length <= 0) {
        report("channel-closed", "%s", "");
        return false;
    }
    report("channel", "%s", bytes);
    bool stops = strncmp(bytes, "STOP=1", 6) == 0 || strstr(bytes, "\nSTOP=1");
    if (stops && send(channel, "STOPPING=1\n", 11, MSG_NOSIGNAL) >= 0) {
        report("answered", "STOPPING=1");
    }
    return stops;
}
