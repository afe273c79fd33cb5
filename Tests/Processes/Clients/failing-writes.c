// Lets calls that change files below a directory fail, is loaded before everything else (LD_PRELOAD), and works in Linux.
//
// FAILING_DIRECTORY  the directory, with all symbolic links resolved
// FAILING_FILE       the end of the names of the files whose calls are numbered; without it, those of all files are
// FAILING_COUNTS     a file of at least 64 bytes: numbers of calls so far, in the order of `enum kind`, and then whether
//                    the fault has happened
// FAILING_KIND       which calls are numbered, by the names below; "any" numbers all of them together
// FAILING_AT         the number of the call, from 1 on; 0 only counts
// FAILING_MODE       once: that call fails; ever: so does every later one of its kind; short: half of its bytes are
//                    written, and the next one fails; cut: half of its bytes are written, and the process is killed;
//                    kill: the process is killed before the call
// FAILING_ERRNO      the number of the error
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

enum kind { WRITE, SYNC, RENAME, TRUNCATE, OPEN, UNLINK, ANY };
static const char *names[] = {"write", "sync", "rename", "truncate", "open", "unlink", "any"};
enum answer { PASS, FAIL, HALF, CUT };

static char directory[PATH_MAX];
static size_t directorySize;
static const char *end = "";
static atomic_uint *counts;
static int kind = ANY, error = EIO;
static unsigned at;
static char mode[8];

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

__attribute__((constructor)) static void begin(void) {
  const char *place = getenv("FAILING_DIRECTORY"), *file = getenv("FAILING_COUNTS");
  if (!place || !file) return;
  snprintf(directory, sizeof directory, "%s/", place);
  directorySize = strlen(directory);
  end = getenv("FAILING_FILE") ?: "";
  const char *name = getenv("FAILING_KIND");
  for (int i = 0; name && i <= ANY; i++)
    if (!strcmp(name, names[i])) kind = i;
  at = atoi(getenv("FAILING_AT") ?: "0");
  error = atoi(getenv("FAILING_ERRNO") ?: "5");
  snprintf(mode, sizeof mode, "%s", getenv("FAILING_MODE") ?: "once");
  int descriptor = REAL(open)(file, O_RDWR | O_CLOEXEC);
  if (descriptor < 0) return;
  void *memory = mmap(NULL, 64, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
  close(descriptor);
  if (memory != MAP_FAILED) counts = memory;
}

enum place { ELSEWHERE, BELOW, CHOSEN };

static enum place look(const char *path) {
  if (!counts || !path || strncmp(path, directory, directorySize)) return ELSEWHERE;
  size_t size = strlen(path), tail = strlen(end);
  return size >= tail && !strcmp(path + size - tail, end) ? CHOSEN : BELOW;
}

static enum place lookAt(int descriptor) {
  if (!counts) return ELSEWHERE;
  int before = errno;
  char link[64], path[PATH_MAX];
  snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
  ssize_t size = readlink(link, path, sizeof path - 1);
  errno = before;
  if (size < 0) return ELSEWHERE;
  path[size] = 0;
  // A directory itself is synced after a file in it was renamed.
  if ((size_t)size == directorySize - 1 && !strncmp(path, directory, size)) return *end ? BELOW : CHOSEN;
  return look(path);
}

static void die(void) {
  kill(getpid(), SIGKILL);
  for (;;) pause();
}

/// Numbers a call and says what becomes of it.
static enum answer number(enum kind of, enum place place) {
  int isOurs = at && (kind == ANY || kind == (int)of);
  if (place == BELOW) return isOurs && !strcmp(mode, "ever") && atomic_load(&counts[ANY + 1]) ? FAIL : PASS;
  unsigned any = atomic_fetch_add(&counts[ANY], 1) + 1, own = atomic_fetch_add(&counts[of], 1) + 1;
  if (!isOurs) return PASS;
  unsigned now = kind == ANY ? any : own;
  int isShort = !strcmp(mode, "short");
  if (now < at || (now > at + isShort && strcmp(mode, "ever")) || (now == at + 1 && strcmp(mode, "ever") && !isShort))
    return PASS;
  atomic_store(&counts[ANY + 1], 1);
  if (!strcmp(mode, "kill")) die();
  if (!strcmp(mode, "cut")) return CUT;
  return isShort && now == at ? HALF : FAIL;
}

static int fails(enum place place, enum kind of) {
  if (!place || number(of, place) == PASS) return 0;
  errno = error;
  return 1;
}

#define WRITES(result, call, half)                    \
  enum place where = lookAt(descriptor);              \
  if (!where) return call;                            \
  switch (number(WRITE, where)) {                     \
  case PASS: return call;                             \
  case FAIL: errno = error; return -1;                \
  case HALF: return half;                             \
  case CUT: (void)!half; die();                       \
  }                                                   \
  return -1;

ssize_t write(int descriptor, const void *bytes, size_t size) {
  WRITES(ssize_t, REAL(write)(descriptor, bytes, size), REAL(write)(descriptor, bytes, (size + 1) / 2))
}
ssize_t pwrite(int descriptor, const void *bytes, size_t size, off_t place) {
  WRITES(ssize_t, REAL(pwrite)(descriptor, bytes, size, place), REAL(pwrite)(descriptor, bytes, (size + 1) / 2, place))
}
ssize_t pwrite64(int descriptor, const void *bytes, size_t size, off64_t place) {
  WRITES(
      ssize_t, REAL(pwrite64)(descriptor, bytes, size, place), REAL(pwrite64)(descriptor, bytes, (size + 1) / 2, place))
}
ssize_t writev(int descriptor, const struct iovec *parts, int count) {
  WRITES(ssize_t, REAL(writev)(descriptor, parts, count), REAL(writev)(descriptor, parts, (count + 1) / 2))
}
ssize_t pwritev(int descriptor, const struct iovec *parts, int count, off_t place) {
  WRITES(
      ssize_t, REAL(pwritev)(descriptor, parts, count, place), REAL(pwritev)(descriptor, parts, (count + 1) / 2, place))
}

int fsync(int descriptor) { return fails(lookAt(descriptor), SYNC) ? -1 : REAL(fsync)(descriptor); }
int fdatasync(int descriptor) { return fails(lookAt(descriptor), SYNC) ? -1 : REAL(fdatasync)(descriptor); }
int ftruncate(int descriptor, off_t size) {
  return fails(lookAt(descriptor), TRUNCATE) ? -1 : REAL(ftruncate)(descriptor, size);
}
int ftruncate64(int descriptor, off64_t size) {
  return fails(lookAt(descriptor), TRUNCATE) ? -1 : REAL(ftruncate64)(descriptor, size);
}
int rename(const char *old, const char *new) {
  return fails(look(old) > look(new) ? look(old) : look(new), RENAME) ? -1 : REAL(rename)(old, new);
}
int unlink(const char *path) { return fails(look(path), UNLINK) ? -1 : REAL(unlink)(path); }
int mkdir(const char *path, mode_t mode) { return fails(look(path), OPEN) ? -1 : REAL(mkdir)(path, mode); }

#define OPENS(name)                                                            \
  int name(const char *path, int flags, ...) {                                 \
    mode_t mode = 0;                                                           \
    if (flags & (O_CREAT | __O_TMPFILE)) {                                     \
      va_list list;                                                            \
      va_start(list, flags);                                                   \
      mode = va_arg(list, mode_t);                                             \
      va_end(list);                                                            \
    }                                                                          \
    return fails((flags & O_CREAT) ? look(path) : ELSEWHERE, OPEN) ? -1 : REAL(name)(path, flags, mode); \
  }
OPENS(open)
OPENS(open64)
