/* The job of job.h by NATS JetStream: one stream, kept in files, with a subject each for commands, states and verdicts. The
 * sender waits for the server's acknowledgement of its command, then for the verdict. The hub is a durable consumer; it
 * publishes state and verdict, waits for both acknowledgements, and then acknowledges the command. The library has
 * threads of its own for reading. */
#include <nats/nats.h>

#include "job.h"

enum { PATIENCE_MILLISECONDS = 60000 };

static natsConnection *connection;
static jsCtx *stream;

static void check(const char *what, natsStatus status) {
  if (status != NATS_OK) fail(what, nats_GetLastError(NULL) ? nats_GetLastError(NULL) : natsStatus_GetText(status));
}

/* Whoever comes first makes the stream; for the others it is there. */
static void open_stream(void) {
  natsOptions *options;
  jsStreamConfig wanted;
  const char *subjects[] = {"job.*"};
  char url[64];
  snprintf(url, sizeof url, "nats://127.0.0.1:%d", job.port);
  check("options", natsOptions_Create(&options));
  check("options", natsOptions_SetURL(options, url));
  check("options", natsOptions_SetSendAsap(options, true)); /* the library waits for more to send otherwise */
  check("connect", natsConnection_Connect(&connection, options));
  check("JetStream", natsConnection_JetStream(&stream, connection, NULL));
  check("stream", jsStreamConfig_Init(&wanted));
  wanted.Name = "JOB";
  wanted.Subjects = subjects;
  wanted.SubjectsLen = 1;
  wanted.Storage = js_FileStorage;
  check("stream", js_AddStream(NULL, stream, &wanted, NULL, NULL));
}

/* A durable name makes a consumer whose messages have to be acknowledged, and are sent again otherwise. */
static natsSubscription *subscribe(const char *subject, const char *durable) {
  natsSubscription *subscription;
  jsSubOptions options;
  check("subscribe", jsSubOptions_Init(&options));
  options.Config.Durable = durable;
  options.Config.AckPolicy = durable ? js_AckExplicit : js_AckNone;
  check("subscribe", js_SubscribeSync(&subscription, stream, subject, NULL, &options, NULL));
  return subscription;
}

static natsMsg *next(natsSubscription *subscription) {
  natsMsg *message;
  check("next", natsSubscription_NextMsg(&message, subscription, PATIENCE_MILLISECONDS));
  return message;
}

static void run_hub(void) {
  open_stream();
  natsSubscription *commands = subscribe("job.commands", "hub");
  check("publish", js_Publish(NULL, stream, "job.states", message(0), job.state_size, NULL, NULL));
  for (;;) {
    natsMsg *command = next(commands);
    int64_t number = number_of(natsMsg_GetData(command));
    check("publish", js_PublishAsync(stream, "job.states", message(number), job.state_size, NULL));
    check("publish", js_PublishAsync(stream, "job.verdicts", message(number), job.verdict_size, NULL));
    check("publish", js_PublishAsyncComplete(stream, NULL));
    check("acknowledge", natsMsg_Ack(command, NULL));
    natsMsg_Destroy(command);
  }
}

static void run_observer(void) {
  open_stream();
  natsSubscription *states = subscribe("job.states", NULL);
  for (;;) {
    natsMsg *state = next(states);
    observe(natsMsg_GetData(state));
    natsMsg_Destroy(state);
  }
}

static natsSubscription *verdicts;

static int64_t ask(int64_t number) {
  check("publish", js_Publish(NULL, stream, "job.commands", message(number), job.command_size, NULL, NULL));
  natsMsg *verdict = next(verdicts);
  int64_t answered = number_of(natsMsg_GetData(verdict));
  natsMsg_Destroy(verdict);
  return answered;
}

static void run_sender(void) {
  open_stream();
  verdicts = subscribe("job.verdicts", NULL);
  send_commands(ask);
}

int main(int count, char **words) { return play(count, words, run_hub, run_observer, run_sender); }
