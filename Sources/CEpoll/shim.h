#ifndef RUNBUS_CEPOLL_SHIM_H
#define RUNBUS_CEPOLL_SHIM_H

// Linux's poller, which Swift's modules of its C libraries leave out.
#include <sys/epoll.h>

#endif
