// Makes each sync of a file last longer, as a slow disk does, is loaded before everything else (LD_PRELOAD), and works in
// Linux.
//
// SYNC_MILLISECONDS  how much longer
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

static void last(void) {
  long milliseconds = atol(getenv("SYNC_MILLISECONDS") ?: "0");
  struct timespec span = {milliseconds / 1000, milliseconds % 1000 * 1000000};
  nanosleep(&span, NULL);
}

int fsync(int descriptor) {
  last();
  return REAL(fsync)(descriptor);
}

int fdatasync(int descriptor) {
  last();
  return REAL(fdatasync)(descriptor);
}
