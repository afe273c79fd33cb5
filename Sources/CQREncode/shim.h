#ifndef RUNBUS_CQRENCODE_SHIM_H
#define RUNBUS_CQRENCODE_SHIM_H

#include <qrencode.h>

#endif
