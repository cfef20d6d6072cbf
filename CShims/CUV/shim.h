#include <sys/timerfd.h>
#include <uv.h>
#include <sys/epoll.h>
