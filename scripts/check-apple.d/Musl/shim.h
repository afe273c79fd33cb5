// The part of musl's module that RunBus uses, made of musl's own headers.
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

// Swift does not import these, because they take any number of arguments or are macros.
static inline int shim_open(const char *path, int flags, mode_t mode) { return open(path, flags, mode); }
static inline int shim_fcntl(int file, int command, long value) { return fcntl(file, command, value); }
static inline int shim_fcntl_pointer(int file, int command, void *value) { return fcntl(file, command, value); }
static inline int *shim_errno(void) { return &errno; }
