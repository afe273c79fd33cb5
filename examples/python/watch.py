"""Joins a bus as a watch, presses buttons, follows the run and leaves: a client that uses only the published protocol.

    python watch.py --bus default --press pause --press resume --snapshots 5

With --records it also fetches the hub's records, prints a line for each, and leaves after so many.

Exits 0 when every press was applied or coalesced and enough snapshots came, 3 when a press was rejected, 4 when one was
superseded, 69 when the hub does not answer, 1 otherwise.
"""

import argparse
import random
import sys
import time
import uuid

import zmq

import records
import runbus
import streams

PING_SECONDS_IN_RUN = 2.0
PING_SECONDS_IDLE = 10.0
"""This watch does not slow down in a pause, as the peers of the Swift package do."""
MISSED_BEATS_MAX = 3
HELLO_SECONDS = (1.0, 2.0, 4.0, 5.0)
"""How long each hello waits for its welcome; the last number holds for all further hellos."""
RENEWAL_SECONDS = 5.0
"""The least time between two new store ids, also for a hub that refuses each of them."""
RESEND_SECONDS_MIN = 2.0
RESEND_SECONDS_MAX = 30.0
FETCH_SECONDS = 5.0
"""How long the answer to a question about records may take."""


class Watch:
    """A peer of one hub, with one session at a time. All sockets are used on one thread."""

    def __init__(self, endpoint, device, wants_records=False, keys=None):
        self.keys, self.endpoint = keys, endpoint
        self.context = zmq.Context()
        self.control = self.context.socket(zmq.DEALER)
        self.control.setsockopt(zmq.LINGER, 500)
        self.control.setsockopt(zmq.IMMEDIATE, 1)
        self.control.setsockopt(zmq.MAXMSGSIZE, 65_536)
        if keys:
            keys.secure(self.control)
        self.control.connect(endpoint)
        self.events = None
        self.poller = zmq.Poller()
        self.poller.register(self.control, zmq.POLLIN)
        self.device = device
        self.node_id = uuid.uuid4().bytes
        self.pair = streams.Pair()
        self.nonce, self.hellos = 0, 0
        self.session, self.last_session = 0, 0
        self.term_seen = 0
        self.snapshot = None
        self.unsettled = None  # the command that waits for its verdict, and when it was pressed
        self.next_resend, self.resend_seconds = 0.0, 0.0
        self.verdicts = []
        self.followed = 0
        self.next_hello = self.next_ping = self.heard_at = self.renewed_at = time.monotonic()
        self.renewed_at -= RENEWAL_SECONDS
        self.pings, self.pinged_at, self.round_trip = 0, 0, None
        self.wants_records, self.records = wants_records, 0
        self.records_through, self.records_newest = 0, 0  # the last change that we have, and the hub's last one
        self.partial = (0, b"")  # the change that is being fetched, and its body so far
        self.next_fetch = 0.0
        self.interval = PING_SECONDS_IDLE  # the one in effect; the last ping may have stated a longer one
        self.stated = PING_SECONDS_IDLE

    def send(self, **message):
        frame = runbus.PeerFrame(session=self.session, sent_at_ns=runbus.monotonic_ns(), **message)
        try:
            self.control.send(frame.SerializeToString(), zmq.NOBLOCK)
        except zmq.Again:
            pass  # the hub is not connected; what it does not acknowledge is sent again

    def greet(self, wait=0.0):
        """Ends the session. A hello is due after `wait`, and a welcome to an earlier hello no longer counts."""
        self.session, self.nonce, self.hellos = 0, random.getrandbits(64), 0
        self.next_hello = time.monotonic() + wait

    def renew(self, hub_store_id):
        """Draws a new store id, because the histories of both sides differ. A command that waits is sent again."""
        wait = max(0.0, self.renewed_at + RENEWAL_SECONDS - time.monotonic())
        self.renewed_at = time.monotonic() + wait
        self.pair.renew(hub_store_id, owed=self.unsettled[0].id if self.unsettled else None)
        self.greet(wait)

    def hello(self):
        """Sends a hello with a new nonce."""
        self.session, self.nonce = 0, random.getrandbits(64)
        self.send(
            hello=runbus.Hello(
                version=runbus.VERSION, device_id=self.device, role="watch", node_id=self.node_id, nonce=self.nonce,
                term_seen=self.term_seen, **self.pair.marks(),
                list_version=self.keys.values["told"]["list_version"] if self.keys else 0,
            )
        )
        self.next_hello = time.monotonic() + jittered(HELLO_SECONDS[min(self.hellos, len(HELLO_SECONDS) - 1)])
        self.hellos += 1

    def press(self, kind):
        """Makes a press. It is sent again until the hub has it, always with the same id and sequence."""
        command = runbus.command(kind, source="watch")
        if self.snapshot.HasField("run_id") and kind != "start":
            command.run_id = self.snapshot.run_id
        command.base.revision = self.snapshot.order.revision
        if self.snapshot.HasField("changed_by"):
            command.base.command_id = self.snapshot.changed_by.command_id
        self.pair.assign(command.id)
        self.unsettled = (command, runbus.monotonic_ns())
        self.resend_seconds = RESEND_SECONDS_MIN
        self.transmit()

    def transmit(self):
        command, pressed = self.unsettled
        age = runbus.monotonic_ns() - pressed
        self.send(command=runbus.Transmission(command=command, sequence=self.pair.assigned, age_ns=age))
        self.next_resend = time.monotonic() + jittered(self.resend_seconds)
        self.resend_seconds = min(2 * self.resend_seconds, RESEND_SECONDS_MAX)

    def turn(self, timeout):
        """Sends what is due, then handles what arrives within the timeout."""
        now = time.monotonic()
        if not self.session and now >= self.next_hello:
            self.hello()
        if self.session and now >= self.next_ping:
            self.beat(now)
        if self.session and self.is_owing and now >= self.next_resend:
            self.transmit()
        if self.session and self.lacks_records and now >= self.next_fetch:
            self.fetch()
        due = self.next_ping if self.session else self.next_hello
        if self.session and self.lacks_records:
            due = min(due, self.next_fetch)
        if self.session and self.is_owing:
            due = min(due, self.next_resend)
        for socket, _ in self.poller.poll(1000 * max(0.0, min(due - now, timeout))):
            parts = socket.recv_multipart()
            if socket is self.control:
                self.heard(runbus.HubFrame.FromString(parts[-1]))
            else:
                self.published(runbus.BusEvent.FromString(parts[-1]))

    def beat(self, now):
        """Sends a ping; after three intervals without a frame from the hub, sends a hello instead."""
        if now - self.heard_at >= MISSED_BEATS_MAX * self.interval:
            self.greet()
            return self.hello()
        self.stated = self.wanted_interval
        self.interval = min(self.interval, self.stated)
        self.pings += 1
        self.send(
            ping=runbus.Ping(
                number=self.pings, round_trip_ns=self.round_trip, next_within_ns=round(self.stated * 1e9)))
        self.pinged_at = runbus.monotonic_ns()
        self.next_ping = now + self.interval

    @property
    def wanted_interval(self):
        is_on = self.snapshot.phase in (runbus.Phase.Value("PHASE_RUNNING"), runbus.Phase.Value("PHASE_PAUSED"))
        return PING_SECONDS_IN_RUN if is_on else PING_SECONDS_IDLE

    @property
    def is_owing(self):
        """Whether a press waits that the hub has not acknowledged."""
        return self.unsettled is not None and self.pair.acknowledged < self.pair.assigned

    def heard(self, frame):
        kind = frame.WhichOneof("message")
        if kind == "welcome":
            if not self.session and frame.welcome.nonce == self.nonce:
                self.welcomed(frame.session, frame.welcome)
        elif kind == "refused":
            self.refused(frame.session, frame.refused)
        elif kind == "goodbye":
            # Ignore a goodbye from an earlier term of the hub. After this one the hub may return at once, or never.
            if self.session and frame.session >> 32 >= self.last_session >> 32:
                self.greet(jittered(HELLO_SECONDS[-1]))
                self.hellos = len(HELLO_SECONDS)
        elif frame.session == self.session:
            self.heard_at = time.monotonic()
            self.answered(frame, kind)

    def answered(self, frame, kind):
        """Handles a frame of this session."""
        if kind == "delivery":
            self.delivered(frame.delivery)
        elif kind == "receipt":
            self.settle(frame.receipt)  # the hub rejects a kind of command that it does not know like this
        elif kind == "record_change":
            self.received(frame.record_change)
        elif kind == "pong":
            self.hear_of_records(frame.pong.records_through)
            if frame.pong.number == self.pings:
                self.round_trip = runbus.monotonic_ns() - self.pinged_at
                if self.stated > self.interval:  # the hub knows the longer interval now
                    self.interval = self.stated
                    self.next_ping = time.monotonic() + self.interval
            if self.snapshot is None or order(frame.pong.order) > order(self.snapshot.order):
                self.send(query=runbus.Query())
        elif kind == "state":
            self.show(frame.state.snapshot)

    def refused(self, session, refusal):
        code = runbus.word(runbus.RefusalCode, refusal.code)
        if code == "unknown session":
            # A refusal that names our session answers an older frame. Without a session, a hello is on its way already.
            if self.session and session != self.session:
                self.greet()
        elif code == "store regressed":
            if not self.session:
                self.renew(self.pair.hub_store_id)
        elif code in ("version mismatch", "malformed"):
            raise SystemExit(f"the hub refused: {refusal.message}")
        # A busy hub gets the frame again later. A code of a later version changes nothing either.

    def welcomed(self, session, welcome):
        if not self.pair.meets(welcome):
            return self.renew(welcome.store_id)
        seen, shown = self.snapshot and order(self.snapshot.order), order(welcome.state.snapshot.order)
        if seen and shown[0] == seen[0] and shown < seen:
            # The hub's store was lost or is an older copy. Make the hub choose a term above all that were seen.
            self.term_seen = max(self.term_seen, seen[0]) + 1
            return self.greet()
        self.session = self.last_session = session
        self.next_ping = self.heard_at = time.monotonic()
        print(f"welcome from {welcome.device_id}, speed {welcome.speed_thousandths / 1000:g}", flush=True)
        self.show(welcome.state.snapshot)
        self.interval = self.stated = self.wanted_interval
        if self.events is not None:
            self.poller.unregister(self.events)
            self.events.close(0)
        self.events = self.context.socket(zmq.SUB)
        self.events.setsockopt(zmq.SUBSCRIBE, b"s")
        self.events.setsockopt(zmq.MAXMSGSIZE, 65_536)
        if self.keys:
            self.keys.note(welcome.enrolment)
            self.keys.secure(self.events)
        events = welcome.events_endpoint
        if self.endpoint.startswith("tcp://"):  # a peer dials the host that it was given, and takes the port only
            events = f"{self.endpoint.rpartition(':')[0]}:{events.rpartition(':')[2]}"
        self.events.connect(events)
        self.poller.register(self.events, zmq.POLLIN)
        if self.is_owing:
            self.resend_seconds = RESEND_SECONDS_MIN
            self.transmit()
        self.partial, self.next_fetch = (0, b""), 0.0
        self.hear_of_records(welcome.records_through)

    @property
    def lacks_records(self):
        """Whether the hub has changes of records that this watch wants and does not have."""
        return self.wants_records and self.records_through < self.records_newest

    def hear_of_records(self, through):
        """Notes the hub's last change. When the hub has fewer than we have, it has lost some: begin again."""
        if through < self.records_through:
            self.records_through, self.partial = 0, (0, b"")
        self.records_newest = through

    def fetch(self):
        """Asks for the next change, from the first byte that is missing."""
        question = {"after": self.records_through, "from": len(self.partial[1])}
        self.send(fetch_record=runbus.FetchRecord(**question))
        self.next_fetch = time.monotonic() + FETCH_SECONDS

    def received(self, change):
        """Handles a change of the records, or a part of one. A removed record has no summary."""
        if change.number <= self.records_through:
            return
        number, body = self.partial
        start = getattr(change, "from")
        if number != change.number:
            number, body = change.number, b""  # another change has replaced the one that was begun
        self.next_fetch = 0.0
        if change.HasField("summary"):
            if start != len(body):
                self.partial = (number, b"")
                return
            body += change.bytes
            if change.bytes and len(body) < change.total:
                self.partial = (number, body)
                return
            self.show_record(change, body)
        self.records_through, self.partial = change.number, (0, b"")

    def show_record(self, change, body):
        """Prints a record. One of a later form is passed over: the records after it are fetched all the same."""
        try:
            summary, body = records.summary(change.summary), records.body(body)
        except ValueError:
            return print(f"record {change.run_id.hex()}: of a form that this watch does not know", flush=True)
        self.records += 1
        laps, points = body["metrics"]["lapCount"], len(body["route"])
        print(
            f"record {summary['runId']}: version {summary['version']}, {summary['activeNs'] / 1e9:.3f} s active, "
            f"{laps} laps, {points} points, title {summary['title']!r}",
            flush=True,
        )

    def delivered(self, delivery):
        """Handles items and acknowledgements of streams. An item has taken effect when this watch has printed it."""
        kind = delivery.WhichOneof("message")
        if kind == "acknowledge" and delivery.acknowledge.kind == streams.COMMANDS:
            was_owing = self.is_owing
            self.pair.acknowledge(delivery.acknowledge.through)
            if was_owing and not self.is_owing:
                print(f"{runbus.word(runbus.CommandKind, self.unsettled[0].kind)}: pending", flush=True)
        elif kind == "go_back" and delivery.go_back.kind == streams.COMMANDS and self.is_owing:
            self.transmit()
        elif kind == "verdicts":
            places = [(verdict.sequence, verdict.receipt.command_id) for verdict in delivery.verdicts.verdicts]
            new = self.pair.take(streams.VERDICTS, places)
            for place in new:
                self.settle(delivery.verdicts.verdicts[place].receipt)
            self.say_how_far(streams.VERDICTS, places[-1][0], new)
        elif kind == "messages":
            places = [(message.sequence, message.message.id) for message in delivery.messages.messages]
            new = self.pair.take(streams.MESSAGES, places)
            for place in new:
                self.tell(delivery.messages.messages[place].message)
            self.say_how_far(streams.MESSAGES, places[-1][0], new)
        elif kind == "tombstones" and delivery.tombstones.kind in self.pair.received:
            gone = delivery.tombstones
            new = self.pair.skip(gone.kind, getattr(gone, "from"), gone.through)
            self.say_how_far(gone.kind, gone.through, new)
        elif kind == "latest":
            if self.pair.is_newer(delivery.latest):
                self.tell(delivery.latest.value)
            known = self.pair.latest[delivery.latest.key][0]
            self.send(delivery=runbus.Delivery(latest_acknowledged={"key": delivery.latest.key, "version": known}))
        elif kind == "live":
            self.tell(delivery.live.message)

    def say_how_far(self, kind, last, new):
        answer = self.pair.answer(kind, last, new)
        if answer is not None:
            self.send(delivery=answer)

    def tell(self, message):
        print(f"message {message.name}: {len(message.body)} bytes", flush=True)

    def settle(self, receipt):
        print(runbus.describe_receipt(receipt), flush=True)
        waiting = self.unsettled and receipt.command_id == self.unsettled[0].id
        if waiting and receipt.WhichOneof("stage") == "verdict":
            self.verdicts.append(receipt.verdict)
            self.unsettled = None

    def published(self, event):
        # Ignore events between a hello and its welcome: `welcomed` compares with what was seen before the hello.
        if not self.session:
            return
        self.heard_at = time.monotonic()
        if event.WhichOneof("event") == "snapshot":
            self.show(event.snapshot.snapshot)

    def show(self, snapshot):
        """Shows a snapshot if it is newer than the last one."""
        if self.snapshot is not None and order(snapshot.order) <= order(self.snapshot.order):
            return
        self.snapshot = snapshot
        if self.session and self.wanted_interval < self.stated:
            self.next_ping = time.monotonic()  # state the shorter interval at once
        self.term_seen = max(self.term_seen, snapshot.order.term)
        self.followed += 1
        metrics = snapshot.metrics
        distance = f"{metrics.distance_meters:.1f} m" if metrics.HasField("distance_meters") else "no distance"
        heart = f"{metrics.heart_rate_bpm:.0f} bpm" if metrics.HasField("heart_rate_bpm") else "no heart rate"
        print(
            f"snapshot {'.'.join(map(str, order(snapshot.order)))}: {runbus.word(runbus.Phase, snapshot.phase)}, "
            f"{metrics.active_ns / 1e9:.3f} s active, {distance}, {heart}",
            flush=True,
        )

    def leave(self):
        if self.session:
            self.send(goodbye=runbus.Goodbye())
        self.context.destroy(linger=500)


def jittered(seconds):
    """Varies a time by up to a quarter, so that peers that lost their hub together do not return at the same moment."""
    return seconds * random.uniform(0.75, 1.25)


def order(message):
    return (message.term, message.revision, message.tick)


def main():
    parser = argparse.ArgumentParser(description="Joins a bus as a watch, presses buttons, follows the run and leaves.")
    where = parser.add_mutually_exclusive_group()
    where.add_argument("--bus", help="the bus's name (default: $RUNBUS_BUS, else default)")
    where.add_argument("--address", help="the hub's address, tcp://HOST:PORT (default: $RUNBUS_ADDRESS)")
    where.add_argument("--keys", metavar="FILE", help="the keys of a paired device, which pair.py has made")
    parser.add_argument("--device", help="this device's name (default: py-watch, or the one that is paired)")
    parser.add_argument(
        "--press", action="append", choices=["start", "pause", "resume", "stop", "lap"],
        help="a button to press, in order, each after the last one's verdict (default: pause, then resume; with "
        "--records none)",
    )
    parser.add_argument("--snapshots", type=int, default=5, metavar="N", help="leave after N snapshots (%(default)s)")
    parser.add_argument("--records", type=int, default=0, metavar="N", help="fetch records, leave after N")
    parser.add_argument("--timeout", type=float, default=30, metavar="SECONDS", help="give up after this (%(default)s)")
    options = parser.parse_args()

    keys = runbus.Keys(options.keys) if options.keys else None
    endpoint = keys.values["control"] if keys else runbus.control_endpoint(options.bus, options.address)
    device = options.device or (keys.values["told"]["device"] if keys else "py-watch")
    watch = Watch(endpoint, device, options.records > 0, keys)
    usual = [] if options.records else ["pause", "resume"]
    presses = usual if options.press is None else options.press
    deadline = time.monotonic() + options.timeout
    try:
        while watch.unsettled or presses or watch.followed < options.snapshots or watch.records < options.records:
            left = deadline - time.monotonic()
            if left <= 0:
                print("gave up: " + ("not enough happened" if watch.session else "no hub answers"), file=sys.stderr)
                return 1 if watch.session else 69
            if watch.session and presses and not watch.unsettled:
                watch.press(presses.pop(0))
            watch.turn(left)
    finally:
        watch.leave()
    outcomes = {verdict.WhichOneof("outcome") for verdict in watch.verdicts}
    return 3 if "rejected" in outcomes else 4 if "superseded_by" in outcomes else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
