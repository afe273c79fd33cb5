/* The same hops as a RunBus command, with nothing around them: what libzmq and SQLite cost on this machine.
 *
 *   hub       ROUTER and XPUB; one SQLite transaction (WAL, synchronous=FULL) per command, then the new
 *             state to all subscribers, and the verdict
 *   observer  SUB; writes down when it received which revision
 *   sender    DEALER; one SQLite transaction of the same kind per command (its outbox row; the row of the command
 *             before goes with it, as in RunBus), then the command; prints nanoseconds to the verdict and to the
 *             observer
 *
 * hops hub DIR | hops observer DIR | hops sender DIR COUNT PAUSE_MICROSECONDS
 *      with --sizes COMMAND VERDICT STATE (bytes of each message) after that
 *
 * DIR holds the sockets, the database, and `observed`: 8 bytes per revision, the observer's clock. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <zmq.h>

enum { MESSAGE_MAX = 4096, ID = 16, VERDICT_ROW = 190, JOURNAL_ROW = 75, WINDOW_ROW = 32, OUTBOX_ROW = 120, WINDOWS_MAX = 64 };

static size_t command_size = 128, verdict_size = 128, state_size = 256;

static void fail(const char *what) {
  fprintf(stderr, "hops: %s: %s\n", what, zmq_strerror(zmq_errno()));
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

static void *open_socket(void *context, int type) {
  void *socket = zmq_socket(context, type);
  int linger = 0, beat = 10000, time_to_live = 30000;
  if (!socket || zmq_setsockopt(socket, ZMQ_LINGER, &linger, sizeof linger) ||
      zmq_setsockopt(socket, ZMQ_HEARTBEAT_IVL, &beat, sizeof beat) ||
      zmq_setsockopt(socket, ZMQ_HEARTBEAT_TIMEOUT, &beat, sizeof beat) ||
      zmq_setsockopt(socket, ZMQ_HEARTBEAT_TTL, &time_to_live, sizeof time_to_live))
    fail("socket");
  return socket;
}

static int open_observed(const char *dir) {
  char path[512];
  snprintf(path, sizeof path, "%s/observed", dir);
  int file = open(path, O_RDWR | O_CREAT, 0600);
  if (file < 0) fail(path);
  return file;
}

/* The hub's store: the kinds of rows that a RunBus command leaves, of about the same size. */
static sqlite3 *database;
static sqlite3_stmt *begin, *watermark, *verdict, *journal, *window, *forget, *commit;

static void check(int result, int wanted) {
  if (result == wanted) return;
  fprintf(stderr, "hops: %s\n", sqlite3_errmsg(database));
  exit(1);
}

static sqlite3_stmt *prepare(const char *sql) {
  sqlite3_stmt *statement;
  check(sqlite3_prepare_v3(database, sql, -1, SQLITE_PREPARE_PERSISTENT, &statement, NULL), SQLITE_OK);
  return statement;
}

static void open_store(const char *dir) {
  char path[512];
  snprintf(path, sizeof path, "%s/hops.sqlite", dir);
  check(sqlite3_open(path, &database), SQLITE_OK);
  check(sqlite3_exec(database,
                     "PRAGMA page_size = 2048; PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;"
                     "CREATE TABLE watermarks (sender BLOB, stream TEXT, sequence INTEGER, PRIMARY KEY (sender, stream))"
                     " WITHOUT ROWID;"
                     "CREATE TABLE verdicts (position INTEGER PRIMARY KEY, command BLOB, payload BLOB,"
                     " judged_at INTEGER);"
                     "CREATE INDEX verdicts_judged_at ON verdicts (judged_at);"
                     "CREATE TABLE journal (position INTEGER PRIMARY KEY, run INTEGER, time INTEGER, payload BLOB);"
                     "CREATE TABLE windows (position INTEGER PRIMARY KEY, payload BLOB);",
                     NULL, NULL, NULL),
        SQLITE_OK);
  begin = prepare("BEGIN IMMEDIATE");
  watermark = prepare("INSERT OR REPLACE INTO watermarks VALUES (?1, 'commands', ?2)");
  verdict = prepare("INSERT INTO verdicts VALUES (?1, ?2, ?3, ?4)");
  journal = prepare("INSERT INTO journal VALUES (?1, 1, ?2, ?3)");
  window = prepare("INSERT INTO windows VALUES (?1, ?2)");
  forget = prepare("DELETE FROM windows WHERE position <= ?1");
  commit = prepare("COMMIT");
}

static void step(sqlite3_stmt *statement) {
  check(sqlite3_step(statement), SQLITE_DONE);
  sqlite3_reset(statement);
}

static void store(int64_t sequence, const unsigned char *id) {
  static const unsigned char sender[ID], row[VERDICT_ROW];
  step(begin);
  sqlite3_bind_blob(watermark, 1, sender, ID, SQLITE_STATIC);
  sqlite3_bind_int64(watermark, 2, sequence);
  step(watermark);
  sqlite3_bind_int64(verdict, 1, sequence);
  sqlite3_bind_blob(verdict, 2, id, ID, SQLITE_STATIC);
  sqlite3_bind_blob(verdict, 3, row, VERDICT_ROW, SQLITE_STATIC);
  sqlite3_bind_int64(verdict, 4, now());
  step(verdict);
  sqlite3_bind_int64(journal, 1, sequence);
  sqlite3_bind_int64(journal, 2, now());
  sqlite3_bind_blob(journal, 3, row, JOURNAL_ROW, SQLITE_STATIC);
  step(journal);
  sqlite3_bind_int64(window, 1, sequence);
  sqlite3_bind_blob(window, 2, row, WINDOW_ROW, SQLITE_STATIC);
  step(window);
  sqlite3_bind_int64(forget, 1, sequence - WINDOWS_MAX);
  step(forget);
  step(commit);
}

/* The sender's store: the row of this command comes, that of the one before goes, and how far both streams are. */
static sqlite3_stmt *owe, *settle, *mark, *acknowledged;

static void open_outbox(const char *dir) {
  char path[512];
  snprintf(path, sizeof path, "%s/sender.sqlite", dir);
  check(sqlite3_open(path, &database), SQLITE_OK);
  check(sqlite3_exec(database,
                     "PRAGMA page_size = 2048; PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;"
                     "CREATE TABLE outbox (sequence INTEGER PRIMARY KEY, command BLOB, payload BLOB, since INTEGER);"
                     "CREATE TABLE watermarks (stream TEXT PRIMARY KEY, sequence INTEGER) WITHOUT ROWID;"
                     "CREATE TABLE acknowledged (stream TEXT PRIMARY KEY, sequence INTEGER) WITHOUT ROWID;",
                     NULL, NULL, NULL),
        SQLITE_OK);
  begin = prepare("BEGIN IMMEDIATE");
  owe = prepare("INSERT INTO outbox VALUES (?1, ?2, ?3, ?4)");
  settle = prepare("DELETE FROM outbox WHERE sequence = ?1");
  mark = prepare("INSERT OR REPLACE INTO watermarks VALUES ('verdicts', ?1)");
  acknowledged = prepare("INSERT OR REPLACE INTO acknowledged VALUES ('commands', ?1)");
  commit = prepare("COMMIT");
}

static void keep(int64_t sequence, const unsigned char *id) {
  static const unsigned char row[OUTBOX_ROW];
  step(begin);
  sqlite3_stmt *before[] = {settle, mark, acknowledged};
  for (int index = 0; index < 3; index++) {
    sqlite3_bind_int64(before[index], 1, sequence - 1);
    step(before[index]);
  }
  sqlite3_bind_int64(owe, 1, sequence);
  sqlite3_bind_blob(owe, 2, id, ID, SQLITE_STATIC);
  sqlite3_bind_blob(owe, 3, row, OUTBOX_ROW, SQLITE_STATIC);
  sqlite3_bind_int64(owe, 4, now());
  step(owe);
  step(commit);
}

static void publish(void *events, int64_t revision) {
  unsigned char state[MESSAGE_MAX] = {0};
  memcpy(state, &revision, sizeof revision);
  if (zmq_send(events, "s", 1, ZMQ_SNDMORE) < 0 || zmq_send(events, state, state_size, 0) < 0) fail("publish");
}

static void reply(void *control, const void *route, size_t route_size, int64_t sequence, size_t size) {
  unsigned char body[MESSAGE_MAX] = {0};
  memcpy(body, &sequence, sizeof sequence);
  if (zmq_send(control, route, route_size, ZMQ_SNDMORE) < 0 || zmq_send(control, body, size, 0) < 0) fail("reply");
}

static void run_hub(void *context, const char *dir) {
  char endpoint[512];
  int64_t revision = 0;
  open_store(dir);
  void *control = open_socket(context, ZMQ_ROUTER), *events = open_socket(context, ZMQ_XPUB);
  snprintf(endpoint, sizeof endpoint, "ipc://%s/c", dir);
  if (zmq_bind(control, endpoint)) fail(endpoint);
  snprintf(endpoint, sizeof endpoint, "ipc://%s/e", dir);
  if (zmq_bind(events, endpoint)) fail(endpoint);
  zmq_pollitem_t items[] = {{control, 0, ZMQ_POLLIN, 0}, {events, 0, ZMQ_POLLIN, 0}};
  for (;;) {
    unsigned char route[256], body[MESSAGE_MAX];
    if (zmq_poll(items, 2, -1) < 0 && zmq_errno() != EINTR) fail("poll");
    if (items[1].revents & ZMQ_POLLIN)
      while (zmq_recv(events, body, sizeof body, ZMQ_DONTWAIT) >= 0) publish(events, revision);
    if (!(items[0].revents & ZMQ_POLLIN)) continue;
    int route_size;
    while ((route_size = zmq_recv(control, route, sizeof route, ZMQ_DONTWAIT)) >= 0) {
      int64_t sequence;
      if (zmq_recv(control, body, sizeof body, 0) < (int)(sizeof sequence + ID)) fail("command");
      memcpy(&sequence, body, sizeof sequence);
      store(sequence, body + sizeof sequence);
      revision = sequence;
      publish(events, revision);
      reply(control, route, (size_t)route_size, sequence, verdict_size);
    }
  }
}

static void run_observer(void *context, const char *dir) {
  char endpoint[512];
  int observed = open_observed(dir);
  void *events = open_socket(context, ZMQ_SUB);
  snprintf(endpoint, sizeof endpoint, "ipc://%s/e", dir);
  if (zmq_setsockopt(events, ZMQ_SUBSCRIBE, "s", 1) || zmq_connect(events, endpoint)) fail(endpoint);
  for (;;) {
    unsigned char topic[8], body[MESSAGE_MAX];
    int64_t revision;
    if (zmq_recv(events, topic, sizeof topic, 0) < 0 || zmq_recv(events, body, sizeof body, 0) < 0) fail("event");
    int64_t time = now();
    memcpy(&revision, body, sizeof revision);
    if (pwrite(observed, &time, sizeof time, revision * (int64_t)sizeof time) < 0) fail("observed");
  }
}

/* When the observer received a revision. */
static int64_t seen(int observed, int64_t revision) {
  int64_t time = 0;
  while (pread(observed, &time, sizeof time, revision * (int64_t)sizeof time) != sizeof time || time == 0)
    pause_for(100000);
  return time;
}

static void run_sender(void *context, const char *dir, int64_t count, int64_t pause_nanoseconds) {
  char endpoint[512];
  int observed = open_observed(dir);
  void *control = open_socket(context, ZMQ_DEALER);
  snprintf(endpoint, sizeof endpoint, "ipc://%s/c", dir);
  if (zmq_connect(control, endpoint)) fail(endpoint);
  open_outbox(dir);
  seen(observed, 0);
  int64_t *times = calloc((size_t)count, 2 * sizeof *times);
  for (int64_t sequence = 1; sequence <= count; sequence++) {
    unsigned char body[MESSAGE_MAX] = {0}, answer[MESSAGE_MAX];
    int64_t *row = times + 2 * (sequence - 1), answered;
    memcpy(body, &sequence, sizeof sequence);
    memcpy(body + sizeof sequence, &sequence, sizeof sequence);
    pause_for(pause_nanoseconds);
    int64_t sent = now();
    keep(sequence, body + sizeof sequence);
    if (zmq_send(control, body, command_size, 0) < 0) fail("command");
    if (zmq_recv(control, answer, sizeof answer, 0) < 0) fail("answer");
    row[0] = now() - sent;
    memcpy(&answered, answer, sizeof answered);
    if (answered != sequence) fail("another answer");
    row[1] = seen(observed, sequence) - sent;
  }
  for (int64_t index = 0; index < count; index++)
    printf("%lld %lld\n", (long long)times[2 * index], (long long)times[2 * index + 1]);
}

int main(int count, char **words) {
  alarm(300); /* whoever started it may be gone */
  if (count < 3) return 64;
  for (int index = 3; index + 3 < count; index++)
    if (!strcmp(words[index], "--sizes")) {
      command_size = (size_t)atoi(words[index + 1]), verdict_size = (size_t)atoi(words[index + 2]);
      state_size = (size_t)atoi(words[index + 3]);
    }
  if (command_size > MESSAGE_MAX || verdict_size > MESSAGE_MAX || state_size > MESSAGE_MAX)
    return 64;
  void *context = zmq_ctx_new();
  if (!strcmp(words[1], "hub")) run_hub(context, words[2]);
  if (!strcmp(words[1], "observer")) run_observer(context, words[2]);
  if (!strcmp(words[1], "sender") && count > 4) run_sender(context, words[2], atoll(words[3]), atoll(words[4]) * 1000);
  return 0;
}
