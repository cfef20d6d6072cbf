// A service that says READY=1 and waits to be ended.
#include "CLifecycle.h"

#include <unistd.h>

int main(void) {
    clc_ready();
    for (;;) pause();
}
