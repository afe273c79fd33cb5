/* Counts what the program that it is loaded into (LD_PRELOAD, glibc) asks of the heap between two moments: how many
 * blocks, and by how many bytes what is in use has grown. Outside of these it only passes on. With ALLOCATIONS_AT_EXIT in
 * the environment it counts from the beginning, and prints the number of blocks at the end. */
#include <errno.h>
#include <malloc.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

void *__libc_malloc(size_t);
void *__libc_calloc(size_t, size_t);
void *__libc_realloc(void *, size_t);
void *__libc_memalign(size_t, size_t);
void __libc_free(void *);

static atomic_bool counting;
static atomic_llong blocks, bytes;

void allocations_begin(void) {
  blocks = 0;
  bytes = 0;
  counting = true;
}

void allocations_end(long long *blocks_made, long long *bytes_grown) {
  counting = false;
  *blocks_made = blocks;
  *bytes_grown = bytes;
}

static void *made(void *block) {
  if (block && atomic_load_explicit(&counting, memory_order_relaxed)) {
    atomic_fetch_add_explicit(&blocks, 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&bytes, (long long)malloc_usable_size(block), memory_order_relaxed);
  }
  return block;
}

static void left(void *block) {
  if (block && atomic_load_explicit(&counting, memory_order_relaxed))
    atomic_fetch_sub_explicit(&bytes, (long long)malloc_usable_size(block), memory_order_relaxed);
}

void *malloc(size_t size) { return made(__libc_malloc(size)); }
void *calloc(size_t count, size_t size) { return made(__libc_calloc(count, size)); }
void *realloc(void *block, size_t size) {
  left(block);
  void *moved = __libc_realloc(block, size);
  if (!moved && size) { /* The old block stays: it is back in use, but nothing was made. */
    if (block && counting) bytes += (long long)malloc_usable_size(block);
    return NULL;
  }
  return made(moved);
}
void *memalign(size_t alignment, size_t size) { return made(__libc_memalign(alignment, size)); }
void *aligned_alloc(size_t alignment, size_t size) { return made(__libc_memalign(alignment, size)); }
int posix_memalign(void **result, size_t alignment, size_t size) {
  void *block = made(__libc_memalign(alignment, size));
  if (!block) return ENOMEM;
  *result = block;
  return 0;
}
void free(void *block) {
  left(block);
  __libc_free(block);
}

__attribute__((constructor)) static void begin_at_once(void) {
  if (getenv("ALLOCATIONS_AT_EXIT")) allocations_begin();
}

__attribute__((destructor)) static void tell_at_exit(void) {
  if (getenv("ALLOCATIONS_AT_EXIT")) fprintf(stderr, "allocations %lld\n", (long long)blocks);
}
