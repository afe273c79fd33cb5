/* The durable enqueue of RunBus with nothing around it: what SQLite costs on this machine.
 *
 * enqueue DIR COMMITS ROWS BODY: COMMITS transactions of ROWS messages with BODY bytes each, in a new database in DIR;
 * prints the nanoseconds of every commit. The table, the rows, the page size and the pragmas are those of RunBus' store;
 * a transaction of one row is a plain INSERT. Before that as many commits as it takes until the log is written over
 * instead of growing, which is cheaper. */
#include <sqlite3.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* id, length of the name, the name `gel` */
enum { HEAD = 16 + 2 + 3, BODY_MAX = 32768, LOG_PAGES = 1100 };

static sqlite3 *database;
static sqlite3_stmt *begin, *insert, *commit;

static void check(int result, int wanted) {
  if (result == wanted) return;
  fprintf(stderr, "enqueue: %s\n", sqlite3_errmsg(database));
  exit(1);
}

static int64_t now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

static sqlite3_stmt *prepare(const char *sql) {
  sqlite3_stmt *statement;
  check(sqlite3_prepare_v3(database, sql, -1, SQLITE_PREPARE_PERSISTENT, &statement, NULL), SQLITE_OK);
  return statement;
}

static void step(sqlite3_stmt *statement) {
  check(sqlite3_step(statement), SQLITE_DONE);
  sqlite3_reset(statement);
}

static void enqueue(int64_t sequence, int size) {
  static unsigned char item[HEAD + BODY_MAX] = {[16] = 3, [18] = 'g', [19] = 'e', [20] = 'l'};
  memcpy(item, &sequence, sizeof sequence);
  sqlite3_bind_int64(insert, 1, (int64_t)1 << 40 | sequence);
  sqlite3_bind_int64(insert, 2, 3);
  sqlite3_bind_blob(insert, 3, item, HEAD + size, SQLITE_STATIC);
  sqlite3_bind_int64(insert, 4, sequence * 1000000000);
  sqlite3_bind_int64(insert, 5, 0);
  sqlite3_bind_int64(insert, 6, 0);
  step(insert);
}

int main(int count, char **words) {
  if (count != 5) {
    fprintf(stderr, "usage: enqueue DIR COMMITS ROWS BODY\n");
    return 2;
  }
  char path[512];
  snprintf(path, sizeof path, "%s/enqueue.sqlite", words[1]);
  int commits = atoi(words[2]), rows = atoi(words[3]), size = atoi(words[4]);
  if (commits < 1 || rows < 1 || size < 0 || size > BODY_MAX) return 2;
  check(sqlite3_open(path, &database), SQLITE_OK);
  check(sqlite3_exec(database,
                     "PRAGMA page_size = 2048; PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = WAL;"
                     "PRAGMA synchronous = FULL;"
                     "CREATE TABLE outbox (position INTEGER PRIMARY KEY, kind INTEGER, item BLOB,"
                     " since INTEGER NOT NULL, flags INTEGER NOT NULL, tries INTEGER NOT NULL);",
                     NULL, NULL, NULL),
        SQLITE_OK);
  begin = prepare("BEGIN IMMEDIATE");
  insert = prepare("INSERT OR REPLACE INTO outbox (position, kind, item, since, flags, tries) VALUES (?, ?, ?, ?, ?, ?)");
  commit = prepare("COMMIT");
  int64_t sequence = 0, *times = calloc((size_t)commits, sizeof *times);
  if (!times) return 1;
  for (int number = -(rows > 1 ? 20 : LOG_PAGES); number < commits; number++) {
    int64_t start = now();
    if (rows > 1) step(begin);
    for (int row = 0; row < rows; row++) enqueue(++sequence, size);
    if (rows > 1) step(commit);
    if (number >= 0) times[number] = now() - start;
  }
  for (int number = 0; number < commits; number++) printf("%lld\n", (long long)times[number]);
  sqlite3_finalize(begin);
  sqlite3_finalize(insert);
  sqlite3_finalize(commit);
  sqlite3_close(database);
  return 0;
}
