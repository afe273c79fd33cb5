// Tells the thread sanitizer of a lock that it cannot see. A contended `Mutex` of Swift's is taken and let go inside
// libswiftSynchronization, which is not instrumented, so that whatever such a lock guards would be reported as a race.
// Loaded before everything else (LD_PRELOAD, scripts/sanitize); in a program without the sanitizer it does nothing.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>

#define SWIFT __attribute__((swiftcall))
#define SELF __attribute__((swift_context)) void *
#define LOCK_SLOW "$s15Synchronization12_MutexHandleV9_lockSlowyys6UInt32VF"
#define UNLOCK_SLOW "$s15Synchronization12_MutexHandleV11_unlockSlowyyF"

void __tsan_acquire(void *) __attribute__((weak));
void __tsan_release(void *) __attribute__((weak));

SWIFT void lockSlow(uint32_t thread, SELF mutex) __asm__(LOCK_SLOW);
SWIFT void unlockSlow(SELF mutex) __asm__(UNLOCK_SLOW);

SWIFT void lockSlow(uint32_t thread, SELF mutex) {
  SWIFT void (*lock)(uint32_t, SELF) = (SWIFT void (*)(uint32_t, SELF))dlsym(RTLD_NEXT, LOCK_SLOW);
  lock(thread, mutex);
  if (__tsan_acquire) __tsan_acquire(mutex);
}

SWIFT void unlockSlow(SELF mutex) {
  if (__tsan_release) __tsan_release(mutex);
  SWIFT void (*unlock)(SELF) = (SWIFT void (*)(SELF))dlsym(RTLD_NEXT, UNLOCK_SLOW);
  unlock(mutex);
}
