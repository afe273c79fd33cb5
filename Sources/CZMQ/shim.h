#ifndef RUNBUS_CZMQ_SHIM_H
#define RUNBUS_CZMQ_SHIM_H

#include <zmq.h>

#endif
