/* The job of job.h by MQTT, with QoS 1 throughout. The state is a retained message. Hub and sender have sessions that
 * outlive their connections, so that the broker keeps what comes while they are away. The hub publishes before the library
 * acknowledges the command; the sender waits for the acknowledgement of its command, too. */
#include <mosquitto.h>

#include "job.h"

static struct mosquitto *client;
static int64_t verdict, acknowledged;
static int subscribed;

static void check(const char *what, int result) {
  if (result != MOSQ_ERR_SUCCESS) fail(what, mosquitto_strerror(result));
}

static void loop(void) { check("loop", mosquitto_loop(client, -1, 1)); }

static void on_subscribe(struct mosquitto *it, void *object, int id, int count, const int *granted) {
  (void)it, (void)object, (void)id, (void)count, (void)granted;
  subscribed = 1;
}

static void on_publish(struct mosquitto *it, void *object, int id) {
  (void)it, (void)object, (void)id;
  acknowledged++;
}

static void publish(const char *topic, int64_t number, int size, bool is_retained) {
  check("publish", mosquitto_publish(client, NULL, topic, size, message(number), 1, is_retained));
}

typedef void handler(struct mosquitto *, void *, const struct mosquitto_message *);

/* Returns when the broker has confirmed the subscription. */
static void subscribe(const char *id, const char *topic, handler *on_message) {
  mosquitto_lib_init();
  client = mosquitto_new(id, false, NULL);
  if (!client) fail("mosquitto_new", strerror(errno));
  mosquitto_int_option(client, MOSQ_OPT_TCP_NODELAY, 1);
  mosquitto_message_callback_set(client, on_message);
  mosquitto_subscribe_callback_set(client, on_subscribe);
  mosquitto_publish_callback_set(client, on_publish);
  check("connect", mosquitto_connect(client, "127.0.0.1", job.port, 60));
  check("subscribe", mosquitto_subscribe(client, NULL, topic, 1));
  while (!subscribed) loop();
}

static void on_command(struct mosquitto *it, void *object, const struct mosquitto_message *command) {
  (void)it, (void)object;
  int64_t number = number_of(command->payload);
  publish("state", number, job.state_size, true);
  publish("verdicts", number, job.verdict_size, false);
}

static void run_hub(void) {
  subscribe("hub", "commands", on_command);
  publish("state", 0, job.state_size, true);
  for (;;) loop();
}

static void on_state(struct mosquitto *it, void *object, const struct mosquitto_message *state) {
  (void)it, (void)object;
  observe(state->payload);
}

static void run_observer(void) {
  subscribe("observer", "state", on_state);
  for (;;) loop();
}

static void on_verdict(struct mosquitto *it, void *object, const struct mosquitto_message *message) {
  (void)it, (void)object;
  verdict = number_of(message->payload);
}

static int64_t ask(int64_t number) {
  publish("commands", number, job.command_size, false);
  while (verdict < number || acknowledged < number) loop();
  return verdict;
}

static void run_sender(void) {
  subscribe("sender", "verdicts", on_verdict);
  send_commands(ask);
}

int main(int count, char **words) { return play(count, words, run_hub, run_observer, run_sender); }
