/* What the C programs of `Benchmarks/run all` have in common (hops.c is on its own). Each is three programs, of the words
 * that hops.c has:
 *
 *   hub DIR | observer DIR | sender DIR COUNT PAUSE_MICROSECONDS
 *   with --sizes COMMAND VERDICT STATE (bytes of each message) and --port PORT (of a broker on this machine) after that
 *
 * The hub publishes state 0 when it is ready. The sender begins when the observer has seen it, and prints for each command
 * the nanoseconds to the verdict and to the observer. DIR holds `observed`: 8 bytes per state, the observer's clock. */
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { MESSAGE_MAX = 4096 };

static struct {
  const char *directory;
  int64_t count, pause;
  int command_size, verdict_size, state_size, port;
} job = {.command_size = 128, .verdict_size = 128, .state_size = 256};

static void fail(const char *what, const char *why) {
  fprintf(stderr, "%s: %s\n", what, why);
  exit(1);
}

static int64_t now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

static void pause_for(int64_t nanoseconds) {
  struct timespec time = {nanoseconds / 1000000000, nanoseconds % 1000000000};
  while (nanosleep(&time, &time) != 0 && errno == EINTR) {}
}

/* A message begins with the number of its command or state. */
static const void *message(int64_t number) {
  static unsigned char body[MESSAGE_MAX];
  memcpy(body, &number, sizeof number);
  return body;
}

static int64_t number_of(const void *body) {
  int64_t number;
  memcpy(&number, body, sizeof number);
  return number;
}

static int observed = -1;

/* The observer calls this for each state. */
static void observe(const void *state) {
  int64_t time = now();
  if (pwrite(observed, &time, sizeof time, number_of(state) * (int64_t)sizeof time) < 0) fail("observed", strerror(errno));
}

/* When the observer received a state. */
static int64_t seen(int64_t number) {
  int64_t time = 0;
  while (pread(observed, &time, sizeof time, number * (int64_t)sizeof time) != sizeof time || time == 0) pause_for(100000);
  return time;
}

/* The sender calls this with a function that sends a command and returns the number that its verdict has. */
static void send_commands(int64_t (*ask)(int64_t)) {
  seen(0);
  int64_t *times = calloc((size_t)job.count, 2 * sizeof *times);
  for (int64_t number = 1; number <= job.count; number++) {
    int64_t *row = times + 2 * (number - 1);
    pause_for(job.pause);
    int64_t sent = now();
    if (ask(number) != number) fail("verdict", "of another command");
    row[0] = now() - sent;
    row[1] = seen(number) - sent;
  }
  for (int64_t index = 0; index < job.count; index++)
    printf("%lld %lld\n", (long long)times[2 * index], (long long)times[2 * index + 1]);
}

static int play(int count, char **words, void (*hub)(void), void (*observer)(void), void (*sender)(void)) {
  alarm(300); /* whoever started it may be gone */
  if (count < 3) return 64;
  job.directory = words[2];
  for (int index = 3; index < count; index++) {
    if (!strcmp(words[index], "--port") && index + 1 < count) job.port = atoi(words[index + 1]);
    if (!strcmp(words[index], "--sizes") && index + 3 < count) {
      job.command_size = atoi(words[index + 1]), job.verdict_size = atoi(words[index + 2]);
      job.state_size = atoi(words[index + 3]);
    }
  }
  int sizes[] = {job.command_size, job.verdict_size, job.state_size};
  for (int index = 0; index < 3; index++)
    if (sizes[index] < (int)sizeof(int64_t) || sizes[index] > MESSAGE_MAX) return 64;
  char path[512];
  snprintf(path, sizeof path, "%s/observed", job.directory);
  observed = open(path, O_RDWR | O_CREAT, 0600);
  if (observed < 0) fail(path, strerror(errno));
  if (!strcmp(words[1], "hub")) hub();
  if (!strcmp(words[1], "observer")) observer();
  if (!strcmp(words[1], "sender") && count > 4) {
    job.count = atoll(words[3]), job.pause = atoll(words[4]) * 1000;
    sender();
  }
  return 0;
}
