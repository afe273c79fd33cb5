// A member that sends what it can: commands, samples, values and hellos in turn, as fast as its sockets take them.
//
//   flood CONTROL_ENDPOINT FILE [KINDS]
//
// It has three connections: two that press, measure and set values, one that says hello with ever another name. It reads
// the hub's answers. FILE holds four numbers of eight bytes: frames sent until now, the time of that (the monotonic clock,
// ns), frames refused as busy, welcomes. KINDS are the first letters of what it sends, "csvh" unless it is told otherwise. It
// runs until it is killed.

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <zmq.h>

static int64_t now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

static uint64_t state = 88172645463325252ull;

static uint64_t draw(void) {
  state ^= state << 13;
  state ^= state >> 7;
  return state ^= state << 17;
}

// A message of the schema while it is written.
struct message {
  unsigned char bytes[4096];
  size_t size;
};

static void varint(struct message *to, uint64_t value) {
  while (value > 127) {
    to->bytes[to->size++] = (unsigned char)(value | 128);
    value >>= 7;
  }
  to->bytes[to->size++] = (unsigned char)value;
}

static void number(struct message *to, int field, uint64_t value) {
  varint(to, (uint64_t)field << 3);
  varint(to, value);
}

static void fixed(struct message *to, int field, const void *value) {
  varint(to, (uint64_t)field << 3 | 1);
  memcpy(to->bytes + to->size, value, 8);
  to->size += 8;
}

static void bytes(struct message *to, int field, const void *data, size_t size) {
  varint(to, (uint64_t)field << 3 | 2);
  varint(to, size);
  memcpy(to->bytes + to->size, data, size);
  to->size += size;
}

static void text(struct message *to, int field, const char *text) { bytes(to, field, text, strlen(text)); }

static void part(struct message *to, int field, const struct message *inner) {
  bytes(to, field, inner->bytes, inner->size);
}

static void id(struct message *to, int field) {
  uint64_t halves[2] = {draw(), draw()};
  bytes(to, field, halves, 16);
}

struct line {
  void *socket;
  uint64_t session, commands, samples;
  int is_asking;
};

static int64_t counts[4]; // as in the file

// Sends a frame that holds one message; whether the socket took it.
static int frame(struct line *line, int field, const struct message *inner) {
  struct message whole = {.size = 0};
  number(&whole, 1, line->session);
  number(&whole, 2, (uint64_t)now());
  part(&whole, field, inner);
  if (zmq_send(line->socket, whole.bytes, whole.size, ZMQ_DONTWAIT) < 0) return 0;
  counts[0]++;
  return 1;
}

static int hello(struct line *line, const char *device) {
  struct message said = {.size = 0};
  uint64_t nonce = draw();
  number(&said, 1, 3);
  text(&said, 2, device);
  text(&said, 3, "watch");
  id(&said, 4);
  id(&said, 5);
  fixed(&said, 6, &nonce);
  line->session = line->commands = line->samples = 0;
  return frame(line, 3, &said);
}

static int press(struct line *line) {
  struct message command = {.size = 0}, said = {.size = 0};
  id(&command, 1);
  number(&command, 2, 5); // a lap: it changes no phase
  text(&command, 3, "flood");
  part(&said, 1, &command);
  number(&said, 2, line->commands + 1);
  if (!frame(line, 4, &said)) return 0;
  line->commands++;
  return 1;
}

static int measure(struct line *line) {
  struct message sample = {.size = 0}, said = {.size = 0};
  double rate = 150;
  number(&sample, 1, line->samples + 1);
  number(&sample, 2, 1000000);
  fixed(&sample, 6, &rate);
  part(&said, 1, &sample);
  if (!frame(line, 5, &said)) return 0;
  line->samples++;
  return 1;
}

static int set(struct line *line) {
  static uint64_t version;
  static const unsigned char body[1024];
  struct message value = {.size = 0}, latest = {.size = 0}, said = {.size = 0};
  char key[16];
  snprintf(key, sizeof key, "key %d", (int)(draw() % 100));
  id(&value, 1);
  text(&value, 2, "value");
  bytes(&value, 3, body, sizeof body);
  text(&latest, 1, key);
  number(&latest, 2, ++version);
  part(&latest, 3, &value);
  part(&said, 7, &latest);
  return frame(line, 10, &said);
}

// All verdicts that there may ever be: the hub is to go on judging.
static int acknowledge(struct line *line) {
  struct message mark = {.size = 0}, said = {.size = 0};
  number(&mark, 1, 4);
  number(&mark, 2, 1ull << 40);
  part(&said, 4, &mark);
  return frame(line, 10, &said);
}

static uint64_t take(const unsigned char **at, const unsigned char *end) {
  uint64_t value = 0;
  for (int shift = 0; *at < end && shift < 64; shift += 7) {
    unsigned char byte = *(*at)++;
    value |= (uint64_t)(byte & 127) << shift;
    if (byte < 128) break;
  }
  return value;
}

static void hear(struct line *line) {
  unsigned char data[65536];
  int size;
  while ((size = zmq_recv(line->socket, data, sizeof data, ZMQ_DONTWAIT)) >= 0) {
    if (size > (int)sizeof data) continue;
    const unsigned char *at = data, *end = data + size;
    uint64_t session = 0;
    while (at < end) {
      uint64_t tag = take(&at, end);
      if ((tag & 7) == 0) {
        uint64_t value = take(&at, end);
        if (tag >> 3 == 1) session = value;
        continue;
      }
      uint64_t length = take(&at, end);
      if ((tag & 7) != 2 || length > (uint64_t)(end - at)) break;
      if (tag >> 3 == 2) { // a welcome
        line->session = session;
        line->is_asking = 0;
        counts[3]++;
      } else if (tag >> 3 == 3) { // a refusal: its first field is the code
        const unsigned char *code = at + 1;
        uint64_t value = length > 1 && *at == 8 ? take(&code, end) : 0;
        if (value == 4) counts[2]++;
        // What follows a command that was not taken is not taken either: it begins anew.
        if ((value == 4 || value == 2) && !line->is_asking) line->session = 0;
      }
      at += length;
    }
  }
}

int main(int count, char **arguments) {
  if (count < 3 || count > 4) return fprintf(stderr, "flood CONTROL_ENDPOINT FILE [KINDS]\n"), 64;
  const char *kinds = count > 3 ? arguments[3] : "csvh";
  int presses = strchr(kinds, 'c') != NULL, measures = strchr(kinds, 's') != NULL, sets = strchr(kinds, 'v') != NULL;
  int file = open(arguments[2], O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (file < 0) return perror(arguments[2]), 1;
  alarm(300); // nobody needs it for longer
  state ^= (uint64_t)now();
  void *context = zmq_ctx_new();
  struct line lines[3];
  memset(lines, 0, sizeof lines);
  for (int index = 0; index < 3; index++) {
    lines[index].socket = zmq_socket(context, ZMQ_DEALER);
    if (zmq_connect(lines[index].socket, arguments[1])) return fprintf(stderr, "%s\n", zmq_strerror(errno)), 1;
  }
  int64_t told = 0;
  for (uint64_t turn = 0;; turn++) {
    int sent = 0;
    for (int index = 0; index < 2; index++) {
      struct line *line = &lines[index];
      if (!line->session && !line->is_asking) line->is_asking = hello(line, "flood");
      for (int step = 0; line->session && step < 16; step++)
        sent += (presses && press(line)) + (measures && measure(line)) + (sets && set(line));
      if (line->session && presses) sent += acknowledge(line);
      hear(line);
    }
    for (int step = 0; step < 16 && strchr(kinds, 'h'); step++) {
      char device[32];
      snprintf(device, sizeof device, "flood-%d", (int)(draw() % 2000));
      sent += hello(&lines[2], device);
    }
    hear(&lines[2]);
    if (turn % 16 == 0 || now() - told > 20000000) {
      counts[1] = told = now();
      if (pwrite(file, counts, sizeof counts, 0) < 0) return perror(arguments[2]), 1;
    }
    // Nothing was taken: the hub is behind.
    if (!sent) {
      zmq_pollitem_t items[3];
      for (int index = 0; index < 3; index++)
        items[index] = (zmq_pollitem_t){.socket = lines[index].socket, .events = ZMQ_POLLOUT | ZMQ_POLLIN};
      zmq_poll(items, 3, 10);
    }
  }
}
