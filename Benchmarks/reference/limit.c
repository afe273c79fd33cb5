/* The least that the hops of a RunBus command can cost on this machine: Unix sockets, and at the sender and at the hub a
 * log whose blocks are written one after the other, each with fdatasync. The log has its size from the beginning, as the
 * log of a database has that is used again, so that a commit changes no metadata. job.h says how it is called. */
#include <sys/socket.h>
#include <sys/un.h>

#include "job.h"

enum { BLOCK = 512, BLOCKS = 4096 };

static void open_log(int *file, const char *name) {
  static const unsigned char nothing[BLOCK * 64];
  char path[512];
  snprintf(path, sizeof path, "%s/%s", job.directory, name);
  *file = open(path, O_RDWR | O_CREAT, 0600);
  for (int index = 0; index < BLOCKS / 64; index++)
    if (write(*file, nothing, sizeof nothing) != sizeof nothing) fail(path, strerror(errno));
  if (fsync(*file)) fail(path, strerror(errno));
}

static void append(int file, int64_t number) {
  static unsigned char block[BLOCK];
  memcpy(block, &number, sizeof number);
  if (pwrite(file, block, BLOCK, number % BLOCKS * BLOCK) != BLOCK || fdatasync(file)) fail("log", strerror(errno));
}

static struct sockaddr_un address(const char *name) {
  struct sockaddr_un place = {.sun_family = AF_UNIX};
  if (snprintf(place.sun_path, sizeof place.sun_path, "%s/%s", job.directory, name) >= (int)sizeof place.sun_path)
    fail(job.directory, "too long for a socket");
  return place;
}

static int accept_one(const char *name) {
  struct sockaddr_un place = address(name);
  int listener = socket(AF_UNIX, SOCK_SEQPACKET, 0);
  if (bind(listener, (struct sockaddr *)&place, sizeof place) || listen(listener, 1)) fail(name, strerror(errno));
  int connection = accept(listener, NULL, NULL);
  if (connection < 0) fail(name, strerror(errno));
  return connection;
}

static int connect_to(const char *name) {
  struct sockaddr_un place = address(name);
  int connection = socket(AF_UNIX, SOCK_SEQPACKET, 0);
  for (int tries = 0; connect(connection, (struct sockaddr *)&place, sizeof place); tries++) {
    if (tries == 5000) fail(name, strerror(errno));
    pause_for(2000000);
  }
  return connection;
}

static void put(int connection, int64_t number, int size) {
  if (send(connection, message(number), (size_t)size, MSG_NOSIGNAL) != size) fail("send", strerror(errno));
}

static int64_t take(int connection) {
  unsigned char body[MESSAGE_MAX];
  if (recv(connection, body, sizeof body, 0) < (ssize_t)sizeof(int64_t)) exit(0); /* the other one has ended */
  return number_of(body);
}

static int journal, outbox, control;

static void run_hub(void) {
  open_log(&journal, "journal");
  int events = accept_one("e");
  put(events, 0, job.state_size);
  control = accept_one("c");
  for (;;) {
    int64_t number = take(control);
    append(journal, number);
    put(events, number, job.state_size);
    put(control, number, job.verdict_size);
  }
}

static void run_observer(void) {
  int events = connect_to("e");
  for (;;) {
    int64_t number = take(events);
    observe(message(number));
  }
}

static int64_t ask(int64_t number) {
  append(outbox, number);
  put(control, number, job.command_size);
  return take(control);
}

static void run_sender(void) {
  open_log(&outbox, "outbox");
  control = connect_to("c");
  send_commands(ask);
}

int main(int count, char **words) { return play(count, words, run_hub, run_observer, run_sender); }
