"""A member that breaks rules: it joins a bus and follows one habit until its time is over.

    python wrong.py CONTROL_ENDPOINT SEED HABIT SECONDS MEMORY [STORE_DIRECTORY ...]

HABIT is a name of habits.HABITS. MEMORY is a directory in which all wrong members of a bus remember the runs that they
have seen. The STORE_DIRECTORYs are those of honest devices: a thief of stores reads their ids there. Prints a JSON
object twice a second and at its end: what it has sent until then, and what it was refused with.
"""

import json
import os
import random
import shutil
import sqlite3
import sys
import tempfile
import time
from collections import Counter, deque
from pathlib import Path

import zmq

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).resolve().parents[3] / "examples/python")]
import runbus  # noqa: E402

COMMANDS, SAMPLES, MESSAGES, VERDICTS = (
    runbus.StreamKind.Value(f"STREAM_KIND_{kind}") for kind in ("COMMANDS", "SAMPLES", "MESSAGES", "VERDICTS")
)
FRAMES_MAX = 60_000
"""For each process: a flood has to be refused, but must not decide how long a campaign takes."""
COMMANDS_MAX = 1_500
"""For each process: a hub keeps the newest 100,000 verdicts, and those of honest members must stay among them."""
SECOND = 1_000_000_000


class Line:
    """One connection to the hub, the session on it, and a stream of commands."""

    def __init__(self, member, device, store=None, **hello):
        self.member, self.device, self.store = member, device, store or member.id()
        self.said = {"role": "watch", "node_id": member.id(), **hello}
        self.socket = member.context.socket(zmq.DEALER)
        for option, value in (
            (zmq.LINGER, 0), (zmq.SNDHWM, 256), (zmq.RECONNECT_IVL, 50), (zmq.RECONNECT_IVL_MAX, 800),
        ):
            self.socket.setsockopt(option, value)
        self.socket.connect(member.control)
        self.session, self.welcome = 0, None
        self.rows, self.places, self.mark, self.sent, self.again_at = [], {}, 0, 0, 0.0
        # Whether it acknowledges all verdicts that came, none, or more than there are.
        self.acknowledges = member.chance.choice(["well", "well", "well", "never", "future"])
        member.lines.append(self)

    def close(self):
        self.member.lines.remove(self)
        self.socket.close(0)

    # Sending

    def send(self, what, **message):
        session = message.pop("session", self.session)
        sent_at = message.pop("sent_at_ns", runbus.monotonic_ns())
        self.raw(what, [runbus.PeerFrame(session=session, sent_at_ns=sent_at, **message).SerializeToString()])

    def raw(self, what, parts):
        try:
            self.socket.send_multipart(parts, zmq.NOBLOCK)
            self.member.frames[what] += 1
        except zmq.Again:
            self.member.unsent += 1

    def hello(self, what="hello", **fields):
        said = {
            "version": runbus.VERSION, "device_id": self.device, "store_id": self.store,
            "nonce": self.member.chance.getrandbits(64), **self.said, **fields,
        }
        self.send(what, session=0, hello=runbus.Hello(**said))

    def transmit(self, what, command, sequence, age=0, stop_follows=False, **more):
        self.send(
            what, command=runbus.Transmission(
                command=command, sequence=sequence, age_ns=age, stop_follows=stop_follows, **more))

    def request(self, what, command, device, age=0):
        """Sends a command without a session; the clock's reading is right, wrong or of another boot."""
        pressed = self.member.chance.choice([None, ("boot", runbus.monotonic_ns()), ("x" * 64, -(2**63))])
        request = runbus.CommandRequest(command=command, device_id=device, age_ns=age)
        if pressed:
            request.pressed.boot_id, request.pressed.monotonic_ns = pressed
        self.send(what, session=0, request=runbus.Request(version=runbus.VERSION, command=request))

    def deliver(self, what, **message):
        self.send(what, delivery=runbus.Delivery(**message))

    def add(self, what, command, age=0, stop_follows=False):
        """Adds a command to its stream, which is sent again until the hub has it; see pump()."""
        if self.member.may_press():
            self.rows.append((what, command, runbus.monotonic_ns() - age, stop_follows))
            self.places[command.id] = len(self.rows)

    def pump(self, flight=64):
        """Sends the commands of its stream that are due."""
        if time.monotonic() >= self.again_at:
            self.sent, self.again_at = self.mark, time.monotonic() + 0.3
        while self.session and self.sent < min(len(self.rows), self.mark + flight):
            what, command, pressed, stop_follows = self.rows[self.sent]
            self.sent += 1
            self.transmit(what, command, self.sent, runbus.monotonic_ns() - pressed, stop_follows)

    @property
    def is_settled(self):
        return self.mark >= len(self.rows)

    # Receiving

    def read(self):
        for _ in range(200):
            try:
                parts = self.socket.recv_multipart(zmq.NOBLOCK)
            except zmq.Again:
                return
            self.heard(runbus.HubFrame.FromString(parts[-1]))

    def heard(self, frame):
        member, kind = self.member, frame.WhichOneof("message")
        if kind == "welcome":
            self.session, self.welcome = frame.session, frame.welcome
            member.welcomes += 1
            member.follow(frame.welcome)
            # Another incarnation of the hub, or another session: commands that the hub has not received are sent
            # again.
            marks = {mark.kind: mark.sequence for mark in frame.welcome.received}
            self.mark = min(marks.get(COMMANDS, 0), len(self.rows))
            self.again_at = 0.0
        elif kind == "refused":
            code = runbus.word(runbus.RefusalCode, frame.refused.code)
            member.refused[code] += 1
            if code == "unknown session" and frame.session != self.session:
                self.session = 0
            elif code == "store regressed":
                self.session, self.store = 0, member.id()
                self.mark = self.sent = 0
        elif kind == "goodbye":
            self.session = 0
        elif kind == "receipt":
            self.settled(frame.receipt)
        elif kind == "delivery":
            self.delivered(frame.delivery)

    def delivered(self, delivery):
        kind = delivery.WhichOneof("message")
        if kind == "acknowledge" and delivery.acknowledge.kind == COMMANDS:
            self.mark = max(self.mark, min(delivery.acknowledge.through, len(self.rows)))
        elif kind == "latest_acknowledged" and delivery.latest_acknowledged.refused:
            self.member.refused["no room for a value"] += 1
        elif kind == "verdicts":
            for verdict in delivery.verdicts.verdicts:
                self.settled(verdict.receipt)
            if self.acknowledges != "never":
                through = delivery.verdicts.verdicts[-1].sequence
                through += 1 << 40 if self.acknowledges == "future" else 0
                self.deliver("acknowledgements", acknowledge=runbus.Acknowledge(kind=VERDICTS, through=through))

    def settled(self, receipt):
        if receipt.WhichOneof("stage") != "verdict":
            return
        self.mark = max(self.mark, self.places.get(receipt.command_id, 0))
        verdict = receipt.verdict
        outcome = verdict.WhichOneof("outcome").split("_")[0]
        if outcome == "rejected":
            outcome = runbus.word(runbus.RejectionReason, verdict.rejected.reason)
        self.member.verdicts[outcome] += 1


class Member:
    """A device that breaks rules: its connections, its knowledge of others, and its counts."""

    def __init__(self, control, seed, habit, memory, stores):
        self.control, self.habit, self.stores = control, habit, stores
        self.chance = random.Random(seed)
        self.context = zmq.Context()
        self.lines = []
        self.events, self.events_endpoint = None, None
        self.memory = Path(memory) / "runs"
        self.runs = []  # runs that any wrong member of this bus has seen, the oldest first
        self.remember()
        self.snapshot = None
        self.pending = deque(maxlen=200)  # commands of others without a verdict, from the feed
        self.frames, self.refused, self.verdicts = Counter(), Counter(), Counter()
        self.unsent, self.welcomes, self.commands = 0, 0, 0
        self.name = f"wrong-{habit[:8]}-{seed % 10_000}"

    def may_press(self):
        """Counts a command; whether it may still be sent."""
        self.commands += 1
        return self.commands <= COMMANDS_MAX

    def id(self):
        return self.chance.randbytes(16)

    def roll(self, low, high):
        return self.chance.randint(low, high)

    def line(self, device=None, store=None, **hello):
        while len(self.lines) >= 6:
            self.lines[0].close()
        return Line(self, device or self.name, store, **hello)

    def joined(self, line=None, seconds=2.0):
        """Waits a while for a line's welcome; yields meanwhile, as every habit does."""
        line = line or self.line()
        deadline, again = time.monotonic() + seconds, 0.0
        while not line.session and time.monotonic() < deadline:
            if time.monotonic() >= again:
                line.hello()
                again = time.monotonic() + 0.5
            yield 0.02
        return line

    def settle(self, line, seconds):
        """Waits until the hub has a line's commands, at most for some seconds."""
        deadline = time.monotonic() + seconds
        while not line.is_settled and time.monotonic() < deadline:
            if not line.session:
                yield from self.joined(line, 1.0)
            line.pump()
            yield 0.02

    # Knowledge of others

    def follow(self, welcome):
        if welcome.state.snapshot.HasField("run_id"):
            self.see(welcome.state.snapshot)
        if self.events is not None and self.events_endpoint == welcome.events_endpoint:
            return
        if self.events is not None:
            self.events.close(0)
        self.events_endpoint = welcome.events_endpoint
        self.events = self.context.socket(zmq.SUB)
        self.events.setsockopt(zmq.SUBSCRIBE, b"")
        self.events.connect(self.events_endpoint)

    def see(self, snapshot):
        self.snapshot = snapshot
        if snapshot.HasField("run_id") and snapshot.run_id not in self.runs[-64:]:
            self.runs.append(snapshot.run_id)
            with self.memory.open("a") as file:
                file.write(snapshot.run_id.hex() + "\n")

    def remember(self):
        if self.memory.exists():
            self.runs = list(dict.fromkeys(map(bytes.fromhex, self.memory.read_text().split())))

    def read(self):
        for line in list(self.lines):
            line.read()
        for _ in range(200 if self.events is not None else 0):
            try:
                event = runbus.BusEvent.FromString(self.events.recv_multipart(zmq.NOBLOCK)[-1])
            except zmq.Again:
                break
            kind = event.WhichOneof("event")
            if kind == "snapshot":
                self.see(event.snapshot.snapshot)
            elif kind == "command" and not event.command.device_id.startswith("wrong"):
                self.pending.append((event.command.device_id, event.command.command))

    @property
    def run(self):
        """The present run, if it has seen one."""
        return self.snapshot.run_id if self.snapshot is not None and self.snapshot.HasField("run_id") else None

    @property
    def term(self):
        return self.snapshot.order.term if self.snapshot is not None else 1

    def command(self, kind=None, run=None, **more):
        kind = kind or self.chance.choice(["start", "pause", "resume", "stop", "lap"])
        number = runbus.CommandKind.Value(f"COMMAND_KIND_{kind.upper()}")
        command = runbus.Command(id=self.id(), kind=number, source="wrong", run_id=run, **more)
        if self.snapshot is not None and not command.HasField("base") and self.chance.random() < 0.5:
            command.base.revision = self.snapshot.order.revision
            if self.snapshot.HasField("changed_by"):
                command.base.command_id = self.snapshot.changed_by.command_id
        return command

    def stolen(self):
        """An honest device, the ids of its store and of the hub's, and its streams' marks, from a copy of its files."""
        for directory in self.chance.sample(self.stores, len(self.stores)):
            with tempfile.TemporaryDirectory() as place:
                try:
                    for name in ("node.sqlite", "node.sqlite-wal"):
                        if os.path.exists(f"{directory}/{name}"):
                            shutil.copy(f"{directory}/{name}", place)
                    database = sqlite3.connect(f"{place}/node.sqlite")
                    try:
                        store = database.execute("SELECT value FROM meta WHERE key = 'store'").fetchone()[0]
                        hub = database.execute("SELECT store FROM hub").fetchone()
                        marks = dict(database.execute("SELECT kind, MAX(acknowledged) FROM streams GROUP BY kind"))
                    finally:
                        database.close()
                except (OSError, sqlite3.Error, TypeError):
                    continue  # the file was being written
                return Path(directory).name, store, hub[0] if hub else None, marks
        return None

    # Course of life

    def live(self, acts, seconds):
        end = time.monotonic() + seconds
        told_at = 0.0
        for wait in acts:
            self.read()
            until = min(end, time.monotonic() + wait)
            while (left := until - time.monotonic()) > 0:
                self.poll(left)
                self.read()
            now = time.monotonic()
            if now >= told_at:
                self.tell()
                told_at = now + 0.5
            if now >= end:
                break
            if sum(self.frames.values()) >= FRAMES_MAX:
                time.sleep(min(0.2, end - now))
        # With a goodbye or without one.
        if self.chance.random() < 0.5:
            for line in self.lines:
                line.send("goodbye", goodbye=runbus.Goodbye())
            self.context.destroy(linger=200)
        self.tell()

    def poll(self, seconds):
        """Waits until something arrives, at most for some seconds."""
        poller = zmq.Poller()
        for socket in [line.socket for line in self.lines] + ([self.events] if self.events is not None else []):
            poller.register(socket, zmq.POLLIN)
        poller.poll(1000 * seconds)

    def tell(self):
        report = {
            "habit": self.habit, "frames": dict(self.frames), "unsent": self.unsent, "welcomes": self.welcomes,
            "refused": dict(self.refused), "verdicts": dict(self.verdicts),
        }
        print(json.dumps(report), flush=True)


def main():
    import habits

    control, seed, habit, seconds, memory = sys.argv[1:6]
    member = Member(control, int(seed), habit, memory, sys.argv[6:])
    member.live(habits.HABITS[habit](member), float(seconds))


if __name__ == "__main__":
    main()
