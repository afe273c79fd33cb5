/* The job of job.h by Redis streams. Commands, states and verdicts are a stream each. The hub reads commands as a consumer
 * group, and adds the state and the verdict and acknowledges the command in one transaction. All that a program can say at
 * once it sends at once: the sender its command and the reading of its verdict, the hub its transaction and its next
 * reading. */
#include <hiredis/hiredis.h>

#include "job.h"

static redisContext *redis;

static void open_redis(void) {
  redis = redisConnect("127.0.0.1", job.port);
  if (!redis || redis->err) fail("connect", redis ? redis->errstr : "no memory");
}

static redisReply *answer(void) {
  void *reply;
  if (redisGetReply(redis, &reply) != REDIS_OK) fail("redis", redis->errstr);
  if (((redisReply *)reply)->type == REDIS_REPLY_ERROR) fail("redis", ((redisReply *)reply)->str);
  return reply;
}

static void skip(int answers) {
  while (answers-- > 0) freeReplyObject(answer());
}

static void add(const char *stream, int64_t number, int size) {
  redisAppendCommand(redis, "XADD %s * b %b", stream, message(number), (size_t)size);
}

/* The only entry of a reading of one stream: its id, and its body. */
static const char *entry(const redisReply *reply, const void **body) {
  if (reply->type != REDIS_REPLY_ARRAY) fail("redis", "an answer without an entry");
  const redisReply *first = reply->element[0]->element[1]->element[0];
  *body = first->element[1]->element[1]->str;
  return first->element[0]->str;
}

static void read_command(void) {
  redisAppendCommand(redis, "XREADGROUP GROUP hub hub COUNT 1 BLOCK 0 STREAMS commands >");
}

static void run_hub(void) {
  open_redis();
  redisAppendCommand(redis, "XGROUP CREATE commands hub $ MKSTREAM");
  add("states", 0, job.state_size);
  skip(2);
  read_command();
  for (;;) {
    redisReply *reply = answer();
    const void *body;
    const char *id = entry(reply, &body);
    redisAppendCommand(redis, "MULTI");
    add("states", number_of(body), job.state_size);
    add("verdicts", number_of(body), job.verdict_size);
    redisAppendCommand(redis, "XACK commands hub %s", id);
    redisAppendCommand(redis, "EXEC");
    freeReplyObject(reply);
    read_command();
    skip(5);
  }
}

/* Reads the next entry of a stream, and moves on to it. */
static const void *next(const char *stream, char last[64], redisReply **reply, int answers) {
  redisAppendCommand(redis, "XREAD COUNT 1 BLOCK 0 STREAMS %s %s", stream, last);
  skip(answers);
  *reply = answer();
  const void *body;
  snprintf(last, 64, "%s", entry(*reply, &body));
  return body;
}

static void run_observer(void) {
  char last[64] = "0";
  open_redis();
  for (;;) {
    redisReply *reply;
    observe(next("states", last, &reply, 0));
    freeReplyObject(reply);
  }
}

static int64_t ask(int64_t number) {
  static char last[64] = "0";
  redisReply *reply;
  add("commands", number, job.command_size);
  int64_t answered = number_of(next("verdicts", last, &reply, 1));
  freeReplyObject(reply);
  return answered;
}

static void run_sender(void) {
  open_redis();
  send_commands(ask);
}

int main(int count, char **words) { return play(count, words, run_hub, run_observer, run_sender); }
