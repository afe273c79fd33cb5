"""Joins a bus as a watch, presses buttons, follows the run and leaves: an independent client of the published wire.

    python watch.py --bus default --press pause --press resume --snapshots 5

Exits 0 when every press was applied or coalesced and enough snapshots came, 3 when one was rejected, 4 when one was
superseded, 69 when the hub does not answer, 1 otherwise.
"""

import argparse
import random
import sys
import time
import uuid

import zmq

import runbus

PING_SECONDS_IN_RUN = 2.0
PING_SECONDS_IDLE = 10.0
HELLO_SECONDS = 1.0
RESEND_SECONDS_MIN = 2.0
RESEND_SECONDS_MAX = 30.0


class Watch:
    """One session after the other with one hub. One thread; every socket is used on it alone."""

    def __init__(self, endpoint, device):
        self.context = zmq.Context()
        self.control = self.context.socket(zmq.DEALER)
        self.control.setsockopt(zmq.LINGER, 500)
        self.control.setsockopt(zmq.IMMEDIATE, 1)
        self.control.setsockopt(zmq.MAXMSGSIZE, 65_536)
        self.control.connect(endpoint)
        self.events = None
        self.poller = zmq.Poller()
        self.poller.register(self.control, zmq.POLLIN)
        self.device = device
        self.node_id, self.store_id = uuid.uuid4().bytes, uuid.uuid4().bytes
        self.nonce = random.getrandbits(64)
        self.session = 0
        self.term_seen = 0
        self.snapshot = None
        self.sequence = 0
        self.unsettled = None  # the press that waits for its verdict, and when it was pressed
        self.next_resend, self.resend_seconds = 0.0, 0.0
        self.verdicts = []
        self.followed = 0
        self.next_hello = self.next_ping = time.monotonic()
        self.pings = 0

    def send(self, **message):
        frame = runbus.PeerFrame(session=self.session, sent_at_ns=runbus.monotonic_ns(), **message)
        try:
            self.control.send(frame.SerializeToString(), zmq.NOBLOCK)
        except zmq.Again:
            pass  # nobody is there: hello and the unsettled press are said again

    def hello(self):
        self.session = 0
        self.send(
            hello=runbus.Hello(
                version=runbus.VERSION, device_id=self.device, role="watch", node_id=self.node_id,
                store_id=self.store_id, nonce=self.nonce, term_seen=self.term_seen,
            )
        )
        self.next_hello = time.monotonic() + HELLO_SECONDS

    def press(self, kind):
        """A press is pressed once: said again until its verdict is there, it keeps its id and place."""
        command = runbus.command(kind, source="watch")
        if self.snapshot.HasField("run_id") and kind != "start":
            command.run_id = self.snapshot.run_id
        command.base.revision = self.snapshot.order.revision
        if self.snapshot.HasField("changed_by"):
            command.base.command_id = self.snapshot.changed_by.command_id
        self.sequence += 1
        self.unsettled = (command, runbus.monotonic_ns())
        self.resend_seconds = RESEND_SECONDS_MIN
        self.transmit()

    def transmit(self):
        command, pressed = self.unsettled
        age = runbus.monotonic_ns() - pressed
        self.send(command=runbus.Transmission(command=command, sequence=self.sequence, age_ns=age))
        self.next_resend = time.monotonic() + self.resend_seconds
        self.resend_seconds = min(2 * self.resend_seconds, RESEND_SECONDS_MAX)

    def turn(self, timeout):
        """Says what is due, then takes in what came within the timeout."""
        now = time.monotonic()
        if not self.session and now >= self.next_hello:
            self.hello()
        if self.session and now >= self.next_ping:
            self.pings += 1
            self.send(ping=runbus.Ping(number=self.pings))
            in_run = self.snapshot.phase in (runbus.Phase.Value("PHASE_RUNNING"), runbus.Phase.Value("PHASE_PAUSED"))
            self.next_ping = now + (PING_SECONDS_IN_RUN if in_run else PING_SECONDS_IDLE)
        if self.session and self.unsettled and now >= self.next_resend:
            self.transmit()
        due = self.next_ping if self.session else self.next_hello
        if self.session and self.unsettled:
            due = min(due, self.next_resend)
        for socket, _ in self.poller.poll(1000 * max(0.0, min(due - now, timeout))):
            parts = socket.recv_multipart()
            if socket is self.control:
                self.heard(runbus.HubFrame.FromString(parts[-1]))
            else:
                self.published(runbus.BusEvent.FromString(parts[-1]))

    def heard(self, frame):
        kind = frame.WhichOneof("message")
        if kind == "welcome":
            if frame.welcome.nonce == self.nonce:
                self.welcomed(frame.session, frame.welcome)
        elif kind == "refused":
            if frame.refused.code == runbus.RefusalCode.Value("REFUSAL_CODE_UNKNOWN_SESSION"):
                self.session, self.nonce = 0, random.getrandbits(64)
            else:
                raise SystemExit(f"the hub refused: {frame.refused.message}")
        elif frame.session != self.session:
            pass  # of an earlier session
        elif kind == "receipt":
            self.received(frame)
        elif kind == "pong":
            if self.snapshot is None or order(frame.pong.order) > order(self.snapshot.order):
                self.send(query=runbus.Query())
        elif kind == "state":
            self.show(frame.state.snapshot)

    def welcomed(self, session, welcome):
        self.session = session
        self.next_ping = time.monotonic()
        print(f"welcome from {welcome.device_id}, speed {welcome.speed_thousandths / 1000:g}", flush=True)
        self.show(welcome.state.snapshot)
        if self.events is not None:
            self.poller.unregister(self.events)
            self.events.close(0)
        self.events = self.context.socket(zmq.SUB)
        self.events.setsockopt(zmq.SUBSCRIBE, b"s")
        self.events.setsockopt(zmq.MAXMSGSIZE, 65_536)
        self.events.connect(welcome.events_endpoint)
        self.poller.register(self.events, zmq.POLLIN)
        if self.unsettled:
            self.resend_seconds = RESEND_SECONDS_MIN
            self.transmit()

    def received(self, frame):
        print(runbus.describe(frame), flush=True)
        receipt = frame.receipt
        waiting = self.unsettled and receipt.command_id == self.unsettled[0].id
        if waiting and receipt.WhichOneof("stage") == "verdict":
            self.verdicts.append(receipt.verdict)
            self.unsettled = None

    def published(self, event):
        if event.WhichOneof("event") == "snapshot":
            self.show(event.snapshot.snapshot)

    def show(self, snapshot):
        """Takes a snapshot that is newer than what is shown; an older one has been overtaken."""
        if self.snapshot is not None and order(snapshot.order) <= order(self.snapshot.order):
            return
        self.snapshot = snapshot
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


def order(message):
    return (message.term, message.revision, message.tick)


def main():
    parser = argparse.ArgumentParser(description="Joins a bus as a watch, presses buttons, follows the run and leaves.")
    where = parser.add_mutually_exclusive_group()
    where.add_argument("--bus", help="the bus's name (default: $RUNBUS_BUS, else default)")
    where.add_argument("--address", help="the hub's address, tcp://HOST:PORT (default: $RUNBUS_ADDRESS)")
    parser.add_argument("--device", default="py-watch", help="this device's name (%(default)s)")
    parser.add_argument(
        "--press", action="append", choices=["start", "pause", "resume", "stop", "lap"],
        help="a button to press, in order, each after the last one's verdict (default: pause, then resume)",
    )
    parser.add_argument("--snapshots", type=int, default=5, metavar="N", help="leave after N snapshots (%(default)s)")
    parser.add_argument("--timeout", type=float, default=30, metavar="SECONDS", help="give up after this (%(default)s)")
    options = parser.parse_args()

    watch = Watch(runbus.control_endpoint(options.bus, options.address), options.device)
    presses = ["pause", "resume"] if options.press is None else options.press
    deadline = time.monotonic() + options.timeout
    try:
        while watch.unsettled or presses or watch.followed < options.snapshots:
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
