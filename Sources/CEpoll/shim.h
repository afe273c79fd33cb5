#ifndef RUNBUS_CEPOLL_SHIM_H
#define RUNBUS_CEPOLL_SHIM_H

// Linux's poller, which Swift's modules of its C libraries leave out.
#include <sys/epoll.h>

// An enumeration in glibc, and a macro elsewhere.
static const unsigned int runbus_epollin = EPOLLIN;

#endif
