"""Attacks on a hub with keys while a run goes on beside them, one after the other.

    python attacks.py --busnode PATH [--seconds 4] [--preload LIBZMQ] [--only NAME,NAME]

Makes machines of its own in a temporary directory: a phone that listens for paired devices, an honest client whose
verdicts are timed, a paired thief, and a device whose key is taken back. Each attack lasts for so many seconds. Before
and during it the honest client presses; the table shows how long it waited for its verdicts. Ends with 0 when every
attack was refused, no secret is in the log, and the hub is as well afterwards as before. `--preload` makes the hub use
another libzmq.
"""

import argparse
import base64
import json
import os
import re
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time
import uuid
from pathlib import Path

import zmq
from zmq.utils import z85

HERE = Path(__file__).resolve()
sys.path.insert(0, str(HERE.parents[3] / "examples/python"))
import runbus  # noqa: E402

import floods  # noqa: E402

HANDSHAKE = b"\xff" + bytes(8) + b"\x7f\x03\x00"


# The honest client


def frame(**message):
    return runbus.PeerFrame(sent_at_ns=runbus.monotonic_ns(), **message).SerializeToString()


def press(device, source="shell", kind="lap"):
    return frame(
        request=runbus.Request(
            version=runbus.VERSION,
            command=runbus.CommandRequest(command=runbus.command(kind, source=source), device_id=device, age_ns=0),
        )
    )


def connect(context, kind, endpoint, keys=None):
    made = context.socket(kind)
    made.setsockopt(zmq.LINGER, 0)
    if keys:
        keys.secure(made)
    made.connect(endpoint)
    return made


def tell(client, *parts):
    """Sends a message. One that finds no connection or a full queue is lost, as attackers expect."""
    try:
        client.send_multipart(parts, zmq.NOBLOCK)
    except zmq.Again:
        pass


def meter(path, seconds):
    """Presses every 50 ms, and prints how long each verdict took, in milliseconds. A request that is not answered within
    half a second is sent again, as `busnode send` does."""
    keys = runbus.Keys(path)
    client = connect(zmq.Context(), zmq.DEALER, keys.values["control"], keys)
    waits, end, wrong = [], time.monotonic() + seconds, 0
    while time.monotonic() < end or not waits:
        begin = time.perf_counter()
        body = press("meter")
        client.send_multipart([b"", body])
        tries = 1
        while not client.poll(500) and tries < 40:
            tell(client, b"", body)
            tries += 1
        if tries == 40:
            wrong += 1
            break
        answer = runbus.HubFrame.FromString(client.recv_multipart()[-1])
        waits.append((time.perf_counter() - begin) * 1000)
        if answer.WhichOneof("message") != "receipt" or answer.receipt.WhichOneof("stage") != "verdict":
            wrong += 1
        while tries > 1 and client.poll(300):
            client.recv_multipart()
        time.sleep(max(0.0, 0.05 - (time.perf_counter() - begin)))
    print(json.dumps({"waits": waits, "wrong": wrong}))


# The scene


class Scene:
    """Machines, and the hub on one of them."""

    def __init__(self, options):
        self.options = options
        self.place = Path(tempfile.mkdtemp(prefix="runbus-attacks-"))
        self.processes, self.logs = [], []
        self.port = free_ports()
        self.secrets = []
        self.context = zmq.Context()
        hub = {"SWIFT_BACKTRACE": "enable=no"}
        if options.preload:
            hub |= {"LD_PRELOAD": options.preload, "LD_LIBRARY_PATH": str(Path(options.preload).parent)}
        self.log = self.place / "phone.log"
        self.hub = self.start(
            "phone", "phone", "--synthetic", "--duration", "1h", "--debounce", "0", "--listen", self.control, extra=hub
        )
        self.wait_for(lambda: self.run("phone", "state").returncode == 0, "the phone")
        self.run("phone", "send", "start")
        self.meter = self.pair_client("meter")
        self.thief = self.pair_client("thief")
        self.hub_key = bytes.fromhex(self.meter.values["hub"])

    control = property(lambda self: f"tcp://127.0.0.1:{self.port}")
    events = property(lambda self: f"tcp://127.0.0.1:{self.port + 1}")
    pairing = property(lambda self: f"tcp://127.0.0.1:{self.port + 2}")

    def environment(self, machine, extra=None):
        values = {key: value for key, value in os.environ.items() if not key.startswith("RUNBUS_")}
        for name, part in (("XDG_RUNTIME_DIR", "run"), ("XDG_STATE_HOME", "state")):
            directory = self.place / machine / part
            directory.mkdir(mode=0o700, parents=True, exist_ok=True)
            values[name] = str(directory)
        return values | (extra or {})

    def start(self, machine, *arguments, extra=None, **streams):
        if not streams:
            streams = {"stdin": subprocess.PIPE, "stdout": subprocess.DEVNULL, "stderr": open(self.log, "a")}
        process = subprocess.Popen(
            [self.options.busnode, *arguments], env=self.environment(machine, extra), text=True, **streams
        )
        self.processes.append(process)
        return process

    def run(self, machine, *arguments, **more):
        return subprocess.run(
            [self.options.busnode, *arguments], env=self.environment(machine), text=True, capture_output=True,
            timeout=60, **more,
        )

    @staticmethod
    def wait_for(holds, what, seconds=60):
        end = time.monotonic() + seconds
        while not holds():
            if time.monotonic() > end:
                raise SystemExit(f"waited in vain for {what}")
            time.sleep(0.1)

    def offer(self):
        """Opens pairing, and returns the process and the line."""
        pair = self.start(
            "phone", "pair", "--yes", "--json", "--no-qr", stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        line = json.loads(pair.stdout.readline() or pair.stderr.readline())["line"]
        self.secrets.append(line.rpartition("t=")[2])
        return pair, line

    def pair_client(self, name):
        path = self.place / f"{name}.json"
        pair, line = self.offer()
        joined = subprocess.run(
            [sys.executable, HERE.parents[3] / "examples/python/pair.py", "--device", name, "--keys", path],
            input=line + "\n", text=True, capture_output=True, timeout=60,
        )
        assert joined.returncode == 0, joined
        pair.communicate(timeout=60)
        keys = runbus.Keys(path)
        self.secrets.append(keys.values["secret"])
        return keys

    def alive(self):
        return self.hub.poll() is None

    def footprint(self):
        status = Path(f"/proc/{self.hub.pid}/status").read_text()
        resident = int(re.search(r"VmRSS:\s+(\d+)", status).group(1))
        return resident / 1024, len(os.listdir(f"/proc/{self.hub.pid}/fd"))

    def libzmq(self):
        maps = Path(f"/proc/{self.hub.pid}/maps").read_text()
        return sorted({line.split()[-1].rpartition("/")[2] for line in maps.splitlines() if "libzmq" in line})

    def end(self):
        for process in self.processes:
            if process.poll() is None:
                process.send_signal(signal.SIGTERM)
        for process in self.processes:
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()
        self.context.destroy(linger=0)
        shutil.rmtree(self.place, ignore_errors=True)


def free_ports():
    """Returns the first of three free ports in a row."""
    for first in range(21_000, 29_000, 7):
        try:
            for port in range(first, first + 3):
                with socket.socket() as probe:
                    probe.bind(("127.0.0.1", port))
            return first
        except OSError:
            continue
    raise SystemExit("no free ports")


def drain(client, milliseconds=300):
    """Returns the frames that arrive within a time."""
    frames = []
    while client.poll(milliseconds):
        frames.append(client.recv_multipart())
        milliseconds = 50
    return frames


def words(frames):
    """What a hub has answered: the kinds of its frames, with the stage of receipts."""
    said = []
    for parts in frames:
        try:
            answer = runbus.HubFrame.FromString(parts[-1])
        except Exception:
            said.append("unreadable")
            continue
        kind = answer.WhichOneof("message")
        if kind == "refused":
            kind = "refused " + runbus.word(runbus.RefusalCode, answer.refused.code)
        if kind == "receipt":
            verdict = answer.receipt.verdict
            outcome = verdict.WhichOneof("outcome")
            kind = f"receipt {outcome}"
            if outcome == "rejected":
                kind += " " + runbus.word(runbus.RejectionReason, verdict.rejected.reason)
        if kind == "pairing":
            kind = "pairing " + answer.pairing.WhichOneof("answer")
        said.append(kind)
    return said


class Result:
    """What came of an attack: how many tries, and what was answered how often."""

    def __init__(self, allowed=()):
        self.tries, self.answers, self.allowed, self.faults = 0, {}, set(allowed), []
        self.note = ""

    def take(self, said):
        for word in said:
            self.answers[word] = self.answers.get(word, 0) + 1

    def add(self, other):
        """Adds what came of the same attack in another turn."""
        self.tries += other.tries
        self.allowed |= other.allowed
        self.faults += other.faults
        self.note = other.note
        for word, count in other.answers.items():
            self.answers[word] = self.answers.get(word, 0) + count

    def fault(self, text):
        self.faults.append(text)

    @property
    def is_refused(self):
        return not self.faults and all(word in self.allowed for word in self.answers)

    @property
    def text(self):
        shown = ", ".join(f"{word} {count}" for word, count in sorted(self.answers.items())) or "nothing"
        return shown + self.note + "".join(f"; {fault}" for fault in self.faults[:3])


# Strangers


def stranger(scene, end, hub=None, client_key=True):
    """Sockets without keys (`hub` is None), with an unknown key, or with the wrong key of the hub."""
    result = Result()
    while time.monotonic() < end():
        clients = []
        for kind, endpoint in ((zmq.DEALER, scene.control), (zmq.SUB, scene.events)):
            client = scene.context.socket(kind)
            client.setsockopt(zmq.LINGER, 0)
            if hub:
                public, secret = zmq.curve_keypair()
                client.setsockopt(zmq.CURVE_SERVERKEY, hub)
                client.setsockopt(zmq.CURVE_PUBLICKEY, z85.decode(public))
                client.setsockopt(zmq.CURVE_SECRETKEY, z85.decode(secret))
            client.connect(endpoint)
            if kind == zmq.SUB:
                client.setsockopt(zmq.SUBSCRIBE, b"")
            else:
                tell(client, press("watch"))
            clients.append(client)
        result.tries += len(clients)
        for client in clients:
            result.take(["bytes"] * len(drain(client, 200)))
            client.close()
    return result


def no_key(scene, end):
    """A client without keys at both ports."""
    return stranger(scene, end)


def unknown_key(scene, end):
    """A key that is not paired."""
    return stranger(scene, end, scene.hub_key)


def wrong_hub_key(scene, end):
    """A client that takes the hub for another one."""
    return stranger(scene, end, z85.decode(zmq.curve_keypair()[0]))


def keys_at_plain_port(scene, end):
    """A client with keys at the port of a hub without any: it sends nothing, and hears nothing."""
    result, port = Result(), free_ports()
    plain = scene.start("plain", "phone", "--address", f"tcp://127.0.0.1:{port}", "--insecure")
    try:
        while time.monotonic() < end():
            client = connect(scene.context, zmq.DEALER, f"tcp://127.0.0.1:{port}", scene.thief)
            tell(client, press("thief"))
            result.tries += 1
            result.take(["bytes"] * len(drain(client, 300)))
            client.close()
    finally:
        plain.terminate()
        plain.wait(20)
    return result


def raw(port):
    connection = socket.create_connection(("127.0.0.1", port), timeout=5)
    connection.settimeout(0.2)
    return connection


def answered(result, connection):
    """Notes bytes beyond the greeting of ZMTP, which every socket sends."""
    try:
        data = connection.recv(65_536)
        if len(data) > 64:
            result.take(["bytes"])
    except OSError:
        pass


def send_to_both_ports(scene, end, make):
    """Connects to both ports again and again and sends what `make` makes."""
    result = Result()
    while time.monotonic() < end():
        for port in (scene.port, scene.port + 1):
            try:
                connection = raw(port)
                connection.sendall(make())
                answered(result, connection)
                connection.close()
            except OSError:
                pass
            result.tries += 1
    return result


def garbage(scene, end):
    """Random bytes."""
    return send_to_both_ports(scene, end, lambda: os.urandom(4096))


def huge_frame(scene, end):
    """A greeting with the NULL mechanism, and then a frame of a gigabyte."""
    greeting = HANDSHAKE + b"NULL".ljust(20, b"\0") + bytes(32)
    frame = greeting + b"\x06" + (1 << 30).to_bytes(8, "big") + bytes(1000)
    return send_to_both_ports(scene, end, lambda: frame)


def half_open(scene, end):
    """1,000 connections at a time that say nothing."""
    result, held = Result(), []
    while time.monotonic() < end():
        try:
            held.append(raw(scene.port + len(held) % 2))
            result.tries += 1
        except OSError:
            time.sleep(0.1)
        if len(held) >= 1000:
            time.sleep(max(0.0, end() - time.monotonic()))
    for connection in held:
        connection.close()
    return result


def slow_handshakes(scene, end):
    """100 connections that send one byte of a handshake each second."""
    result, greeting = Result(), HANDSHAKE + b"CURVE".ljust(20, b"\0") + bytes(32)
    held = [raw(scene.port + number % 2) for number in range(100)]
    place = 0
    while time.monotonic() < end():
        for connection in held:
            try:
                connection.send(greeting[place : place + 1])
            except OSError:
                pass
        place, result.tries = place + 1, result.tries + len(held)
        time.sleep(min(1.0, max(0.0, end() - time.monotonic())))
    for connection in held:
        connection.close()
    return result


def flood(scene, end):
    """Connects and resets as fast as two threads can."""
    result, counts = Result(), [0, 0]

    def loop(which):
        while time.monotonic() < end():
            try:
                connection = socket.create_connection(("127.0.0.1", scene.port + which), timeout=2)
                connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                connection.close()
                counts[which] += 1
            except OSError:
                time.sleep(0.01)
            if counts[which] % 20 == 0:
                time.sleep(0.01)

    threads = [threading.Thread(target=loop, args=(which,)) for which in (0, 1)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    result.tries = sum(counts)
    return result


def stranger_subscribes(scene, end):
    """256 subscriptions of a client without keys."""
    result = Result()
    while time.monotonic() < end():
        client = connect(scene.context, zmq.SUB, scene.events)
        for number in range(256):
            client.setsockopt(zmq.SUBSCRIBE, bytes([number]))
        result.tries += 256
        result.take(["bytes"] * len(drain(client, 300)))
        client.close()
    return result


# A paired device that is wrong


def hello(keys, device, store=None, role="watch"):
    return frame(
        hello=runbus.Hello(
            version=runbus.VERSION, device_id=device, role=role, node_id=uuid.uuid4().bytes,
            store_id=store or uuid.uuid4().bytes, nonce=int.from_bytes(os.urandom(7), "big"), term_seen=0,
            list_version=keys.values["told"]["list_version"],
        )
    )


def as_thief(scene, end, bodies, allowed):
    result = Result(allowed)
    client = connect(scene.context, zmq.DEALER, scene.control, scene.thief)
    while time.monotonic() < end():
        for body in bodies():
            tell(client, body)
            result.tries += 1
            result.take(words(drain(client, 500)))
        time.sleep(0.02)
    client.close()
    return result


def other_name(scene, end):
    """A paired device under the names of another one and of the hub."""
    bodies = lambda: [hello(scene.thief, "meter"), hello(scene.thief, "phone"), press("meter"), press("phone")]
    return as_thief(scene, end, bodies, ["refused forbidden", "refused malformed", "refused too fast"])


def other_store(scene, end):
    """A paired device with the store of another one."""
    store = uuid.uuid4().bytes
    owner = connect(scene.context, zmq.DEALER, scene.control, scene.meter)
    tell(owner, hello(scene.meter, "meter", store))
    assert "welcome" in words(drain(owner, 5000)), "the owner of the store is welcome"
    result = as_thief(scene, end, lambda: [hello(scene.thief, "thief", store)], ["refused store regressed", "refused too fast"])
    owner.close()
    return result


def other_session(scene, end):
    """Frames with the session number of another device."""
    owner = connect(scene.context, zmq.DEALER, scene.control, scene.meter)
    tell(owner, hello(scene.meter, "meter"))
    welcome = runbus.HubFrame.FromString(drain(owner, 5000)[0][-1])

    def bodies():
        command = runbus.Transmission(command=runbus.command("stop"), sequence=1, age_ns=0)
        stolen = runbus.PeerFrame(session=welcome.session, sent_at_ns=runbus.monotonic_ns(), command=command)
        goodbye = runbus.PeerFrame(session=welcome.session, goodbye=runbus.Goodbye())
        return [stolen.SerializeToString(), goodbye.SerializeToString()]

    result = as_thief(scene, end, bodies, ["refused unknown session"])
    ping = runbus.PeerFrame(
        session=welcome.session, sent_at_ns=runbus.monotonic_ns(), ping=runbus.Ping(next_within_ns=10**10)
    )
    tell(owner, ping.SerializeToString())
    if "pong" not in words(drain(owner, 2000)):
        result.fault("the session of the other device is over")
    owner.close()
    return result


def other_source(scene, end):
    """Commands of a source that the device may not use."""
    return as_thief(
        scene, end, lambda: [press("thief", source="phone", kind="stop")], ["receipt rejected forbidden"])


def admin(scene, end):
    """Questions and orders for the admin socket, at the control port."""
    inquiries = [runbus.Inquiry(**{field.name: field.message_type._concrete_class()})
                 for field in runbus.Inquiry.DESCRIPTOR.fields if field.message_type]
    bodies = lambda: [frame(inquiry=inquiry) for inquiry in inquiries]
    return as_thief(scene, end, bodies, ["refused forbidden", "refused malformed", "refused unknown session"])


def chatter(scene, end):
    """Commands as fast as the socket takes them: told busy, or judged like others; nothing of it counts twice."""
    allowed = ["refused busy", "refused too fast", "refused store behind", "receipt rejected busy", "receipt applied", "receipt coalesced", "receipt superseded"]
    allowed += ["receipt rejected illegal transition", "receipt None"]
    result = Result(allowed)
    client = connect(scene.context, zmq.DEALER, scene.control, scene.thief)
    while time.monotonic() < end():
        for _ in range(100):
            tell(client, press("thief"))
            result.tries += 1
        result.take(words(drain(client, 50)))
    client.close()
    return result


def send_flood(scene, end, bodies):
    """Sends as fast as the socket takes it, in a session of the thief's own; whatever is answered is read and counted.
    Nothing is forbidden about one such frame, so any answer counts as refused as long as others do not wait for it."""
    result = Result()
    client = connect(scene.context, zmq.DEALER, scene.control, scene.thief)
    client.send(floods.hello("thief"))
    session = next(
        (answer.session for answer in map(runbus.HubFrame.FromString, (f[-1] for f in drain(client, 3000)))
         if answer.WhichOneof("message") == "welcome"), 0)
    answers = 0
    for body in bodies("thief", session):
        if time.monotonic() >= end():
            break
        try:
            client.send(body, zmq.NOBLOCK)
            result.tries += 1
        except zmq.Again:
            client.poll(1)
        while True:
            try:
                answer = client.recv_multipart(zmq.NOBLOCK)
            except zmq.Again:
                break
            answers += 1
    client.close()
    result.take(["answered"] * answers)
    result.allowed.add("answered")
    return result


def flood_of_hellos(scene, end):
    """Hellos with ever new stores."""
    return send_flood(scene, end, floods.hellos)


def flood_of_samples(scene, end):
    """Readings, hundreds to a frame."""
    return send_flood(scene, end, floods.samples)


def flood_of_queries(scene, end):
    """Questions about the run, its charts, its route and its records, in a session and in requests."""
    return send_flood(scene, end, floods.queries)


def flood_of_messages(scene, end):
    """Messages of an app, and newest values."""
    return send_flood(scene, end, floods.messages)


def flood_of_frames(scene, end):
    """Pings, and frames that cannot be read."""
    return send_flood(scene, end, floods.pings)


def flood_of_subscriptions(scene, end):
    """Subscribes to what there is, and ends that, again and again."""
    result = Result()
    client = connect(scene.context, zmq.SUB, scene.events, scene.thief)
    while time.monotonic() < end():
        for topic in (b"", b"s", b"l", b"r"):
            client.setsockopt(zmq.SUBSCRIBE, topic)
            client.setsockopt(zmq.UNSUBSCRIBE, topic)
            result.tries += 1
        if client.poll(0):
            client.recv_multipart()
    client.close()
    return result


def long_frames(scene, end):
    """Frames of a megabyte with a key that is paired."""
    result = Result()
    while time.monotonic() < end():
        client = connect(scene.context, zmq.DEALER, scene.control, scene.thief)
        tell(client, bytes(1 << 20))
        result.tries += 1
        result.take(words(drain(client, 200)))
        client.close()
    return result


def many_subscriptions(scene, end):
    """Thousands of topics that do not exist, of up to 500 bytes, with a key that is paired: it is shut out."""
    result = Result()
    keys = scene.pair_client(f"hoarder-{os.getpid()}")
    control = connect(scene.context, zmq.DEALER, scene.control, keys)
    tell(control, b"", press(keys.values["told"]["device"]))
    if not drain(control, 5000):
        result.fault("a device that is paired heard nothing")
    while time.monotonic() < end() or result.tries == 0:
        client = connect(scene.context, zmq.SUB, scene.events, keys)
        for number in range(4096):
            client.setsockopt(zmq.SUBSCRIBE, b"x" + struct.pack(">H", number))
        for number in range(256):
            client.setsockopt(zmq.SUBSCRIBE, b"x" + os.urandom(500))
        result.tries += 4352
        result.take(["bytes"] * len(drain(client, 300)))
        client.close()
    control.close()
    control = connect(scene.context, zmq.DEALER, scene.control, keys)
    tell(control, b"", press(keys.values["told"]["device"]))
    if drain(control, 1000):
        result.fault("it was not shut out")
    control.close()
    return result


def unfinished(scene, end, endpoint, keys, size, kind=zmq.DEALER, first=None, seconds=1.5):
    """Messages of half a million parts on four connections at once, for as long as the hub takes them. libzmq keeps the
    parts of a message until the last has come."""
    result, most = Result(), 0.0
    before = scene.footprint()[0]
    part = zmq.Message(bytes(size))
    while time.monotonic() < end() or result.tries == 0:
        context, clients = zmq.Context(), []
        for _ in range(4):
            client = connect(context, kind, endpoint, keys)
            clients.append(client)
            client.setsockopt(zmq.SNDHWM, 0)
            if first:
                tell(client, *first)
                client.poll(500)
            try:
                # The last part lets its own libzmq begin to send.
                for _ in range(500 * 1000 * 1000 // (4 * size)):
                    client.send(part, zmq.SNDMORE | zmq.NOBLOCK, copy=False)
                client.send(part, zmq.NOBLOCK)
            except zmq.Again:
                pass
            result.tries += 1
        # Two looks of the hub at least.
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            most = max(most, scene.footprint()[0])
            time.sleep(0.02)
        context.destroy(linger=0)
    result.note = f" (the hub: {before:.0f} to {most:.0f} MiB)"
    if most - before > 320:
        result.fault(f"the hub grew by {most - before:.0f} MiB")
    return result


def unfinished_messages(scene, end):
    """Messages of very many parts with a key that is paired, on connections on which nothing else came."""
    return unfinished(scene, end, scene.control, scene.pair_client(f"endless-{os.getpid()}-{time.monotonic_ns()}"), 60_000)


def unfinished_subscriptions(scene, end):
    """The same at the port of events."""
    keys = scene.pair_client(f"endless-{os.getpid()}-{time.monotonic_ns()}")
    return unfinished(scene, end, scene.events, keys, 500, zmq.XSUB)


def unfinished_after_a_press(scene, end):
    """The same after a press, which names the key: it is shut out."""
    keys = scene.pair_client(f"endless-{os.getpid()}-{time.monotonic_ns()}")
    name = keys.values["told"]["device"]
    result = unfinished(scene, end, scene.control, keys, 60_000, first=[b"", press(name)], seconds=4)
    tries = 0
    while tries < 10:
        client = connect(scene.context, zmq.DEALER, scene.control, keys)
        tell(client, b"", press(name))
        answers = drain(client, 500)
        client.close()
        if not answers:
            return result
        tries += 1
    result.fault("it was not shut out")
    return result


def unfinished_at_pairing(scene, end):
    """The same at the pairing port, where every key is let in while pairing is open."""
    pair, _ = scene.offer()
    public, secret = (z85.decode(one).hex() for one in zmq.curve_keypair())
    values = {"hub": scene.hub_key.hex(), "public": public, "secret": secret}
    keys = runbus.Keys.make(scene.place / f"stranger-{time.monotonic_ns()}.json", values)
    result = unfinished(scene, end, scene.pairing, keys, 4_000)
    pair.send_signal(signal.SIGINT)
    pair.communicate(timeout=30)
    return result


# The way between


class Tap:
    """A TCP proxy for one port that keeps what clients send, and may spoil it."""

    def __init__(self, port, spoil=None):
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port, self.target, self.spoil = self.listener.getsockname()[1], port, spoil
        self.kept, self.is_over = [], False
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while not self.is_over:
            try:
                client, _ = self.listener.accept()
                hub = socket.create_connection(("127.0.0.1", self.target))
            except OSError:
                return
            kept = []
            self.kept.append(kept)
            for source, sink, keeps in ((client, hub, kept), (hub, client, None)):
                threading.Thread(target=self.carry, args=(source, sink, keeps), daemon=True).start()

    def carry(self, source, sink, keeps):
        try:
            while data := source.recv(65_536):
                if keeps is not None:
                    keeps.append(data)
                sink.sendall(self.spoil(data, keeps) if self.spoil and keeps is not None else data)
        except OSError:
            pass
        for end in (source, sink):
            try:
                end.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

    def close(self):
        self.is_over = True
        self.listener.close()


def replayed(scene, end):
    """All bytes of an honest connection, sent again on new connections."""
    result = Result()
    tap = Tap(scene.port)
    client = connect(scene.context, zmq.DEALER, f"tcp://127.0.0.1:{tap.port}", scene.meter)
    tell(client, b"", press("meter"))
    if not words(drain(client, 3000)):
        result.fault("the honest client was not answered")
    client.close()
    recorded = b"".join(tap.kept[0])
    before = revision(scene)
    while time.monotonic() < end():
        connection = raw(scene.port)
        pieces = [recorded[:64], recorded[64:]]
        try:
            for piece in pieces:
                connection.sendall(piece)
                time.sleep(0.05)
            data = b""
            while part := connection.recv(65_536):
                data += part
        except OSError:
            pass
        # A greeting has 64 bytes; a hub that went on would answer with a WELCOME (170 bytes) and a READY at least.
        if len(data) > 64 + 170 + 8:
            result.take(["bytes after the handshake"])
        connection.close()
        result.tries += 1
    tap.close()
    if revision(scene) < before:
        result.fault("the run went back")
    return result


def spliced(scene, end):
    """A live connection on which pieces are dropped, doubled, swapped or changed: presses count once all the same."""
    state = {"count": 0, "held": None}

    def spoil(data, kept):
        state["count"] += 1
        if state["count"] < 6 or state["count"] % 3:
            return data
        kind = state["count"] // 3 % 4
        if kind == 0:
            return b""
        if kind == 1:
            return data + data
        if kind == 2:
            return data[len(data) // 2 :] + data[: len(data) // 2]
        return bytes([*data[:-1], data[-1] ^ 1])

    result = Result(["receipt applied", "receipt rejected illegal transition", "nothing"])
    tap = Tap(scene.port, spoil)
    laps, ids = 0, []
    client = connect(scene.context, zmq.DEALER, f"tcp://127.0.0.1:{tap.port}", scene.meter)
    while time.monotonic() < end():
        body = press("meter")
        ids.append(runbus.PeerFrame.FromString(body).request.command.command.id.hex())
        tell(client, b"", body)
        said = words(drain(client, 400))
        result.take(said or ["nothing"])
        result.tries += 1
        laps += len(said)
        if not said:
            client.close()
            client = connect(scene.context, zmq.DEALER, f"tcp://127.0.0.1:{tap.port}", scene.meter)
    client.close()
    tap.close()
    return result


def revision(scene):
    state = json.loads(scene.run("phone", "state", "--json").stdout.splitlines()[0])
    return (state.get("term", 0), state.get("revision", 0), state.get("tick", 0))


def revoked(scene, end):
    """A key that is taken back while its connections are open: from then on it hears nothing."""
    result, round_ = Result(), 0
    while time.monotonic() < end() or result.tries == 0:
        round_ += 1
        keys = scene.pair_client(f"lost-{os.getpid()}-{round_}")
        control = connect(scene.context, zmq.DEALER, scene.control, keys)
        events = connect(scene.context, zmq.SUB, scene.events, keys)
        events.setsockopt(zmq.SUBSCRIBE, b"")
        tell(control, b"", press(keys.values["told"]["device"]))
        if not drain(control, 5000) or not events.poll(10_000):
            result.fault("a device that is paired heard nothing")
        ended = scene.run("phone", "devices", "revoke", keys.values["told"]["device"])
        if ended.returncode:
            result.fault(f"revoke: {ended.stderr.strip()}")
        # What was on its way before the order was carried out.
        for client in (control, events):
            while client.poll(0):
                client.recv_multipart()
        scene.run("phone", "send", "lap")
        tell(control, b"", press(keys.values["told"]["device"]))
        result.take(["events after revocation"] * len(drain(events, 1500)))
        result.take([f"{word} after revocation" for word in words(drain(control, 300))])
        control.close()
        events.close()
        result.tries += 1
        scene.run("phone", "devices", "forget", keys.values["told"]["device"])
    return result


# Pairing


def ask(scene, token, hub=None, name="guesser", milliseconds=1000):
    """Asks to be paired with a key of its own."""
    public, secret = (z85.decode(key) for key in zmq.curve_keypair())
    client = scene.context.socket(zmq.DEALER)
    client.setsockopt(zmq.LINGER, 0)
    client.setsockopt(zmq.CURVE_SERVERKEY, hub or scene.hub_key)
    client.setsockopt(zmq.CURVE_PUBLICKEY, public)
    client.setsockopt(zmq.CURVE_SECRETKEY, secret)
    client.connect(scene.pairing)
    tell(client, frame(pairing=runbus.PairingRequest(token=token, device_id=name, role="watch", sources=["watch"])))
    said = words(drain(client, milliseconds))
    client.close()
    return said


def listens(port):
    try:
        socket.create_connection(("127.0.0.1", port), timeout=1).close()
    except OSError:
        return False
    return True


def token_of(line):
    text = re.search(r"t=([^&]+)", line).group(1)
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


def token_used_twice(scene, end):
    """The token of a pairing that has succeeded, and that of one that was closed. The port stays open for a second, for
    the last answers."""
    result = Result(["pairing refused"])
    while time.monotonic() < end() or result.tries == 0:
        for succeeds in (True, False):
            pair, line = scene.offer()
            if succeeds:
                name = f"twice-{result.tries}"
                joined = scene.run(name, "join", "--device", name, input=line + "\n")
                if joined.returncode:
                    result.fault(f"join: {joined.stderr.strip()}")
            else:
                pair.send_signal(signal.SIGINT)
            pair.communicate(timeout=30)
            result.take(ask(scene, token_of(line), milliseconds=600))
            if succeeds:
                scene.run("phone", "devices", "revoke", name)
                scene.run("phone", "devices", "forget", name)
            Scene.wait_for(lambda: not listens(scene.port + 2), "a closed pairing port")
            result.tries += 1
    return result


def guessed_tokens(scene, end):
    """Wrong tokens: the fifth closes pairing, and the right one is worth nothing then."""
    result = Result(["pairing refused"])
    while time.monotonic() < end() or result.tries == 0:
        pair, line = scene.offer()
        for _ in range(5):
            result.take(ask(scene, os.urandom(16), milliseconds=3000))
            result.tries += 1
        pair.communicate(timeout=30)
        if pair.returncode == 0:
            result.fault("pair ended as if a device was paired")
        result.take(ask(scene, token_of(line), milliseconds=600))
        Scene.wait_for(lambda: not listens(scene.port + 2), "a closed pairing port")
    return result


def pairing_garbage(scene, end):
    """Garbage and long frames at the pairing port; then a device is paired as usual."""
    result = Result(["pairing refused", "refused forbidden", "refused malformed"])
    pair, line = scene.offer()
    key = scene.hub_key
    while time.monotonic() < end():
        try:
            connection = raw(scene.port + 2)
            connection.sendall(os.urandom(2000))
            connection.close()
        except OSError:
            pass
        public, secret = (z85.decode(one) for one in zmq.curve_keypair())
        client = scene.context.socket(zmq.DEALER)
        client.setsockopt(zmq.LINGER, 0)
        for option, value in (
            (zmq.CURVE_SERVERKEY, key), (zmq.CURVE_PUBLICKEY, public), (zmq.CURVE_SECRETKEY, secret)
        ):
            client.setsockopt(option, value)
        client.connect(scene.pairing)
        for body in (os.urandom(100), bytes(8192), press("watch"), frame(query=runbus.Query())):
            tell(client, body)
            result.tries += 1
        result.take(words(drain(client, 300)))
        client.close()
    joined = scene.run("late", "join", "--device", "late", input=line + "\n")
    if joined.returncode:
        result.fault(f"then nobody could join: {joined.stderr.strip()}")
    pair.communicate(timeout=30)
    scene.run("phone", "devices", "revoke", "late")
    scene.run("phone", "devices", "forget", "late")
    return result


ATTACKS = [
    no_key, unknown_key, wrong_hub_key, keys_at_plain_port, garbage, huge_frame, half_open, slow_handshakes, flood,
    stranger_subscribes, other_name, other_store, other_session, other_source, admin, long_frames, many_subscriptions,
    unfinished_messages, unfinished_subscriptions, unfinished_after_a_press, unfinished_at_pairing,
    replayed, spliced, token_used_twice, guessed_tokens, pairing_garbage, revoked, chatter,
    flood_of_hellos, flood_of_samples, flood_of_queries, flood_of_messages, flood_of_frames, flood_of_subscriptions,
]


def measured(scene, seconds):
    return subprocess.Popen(
        [sys.executable, HERE, "--meter", str(scene.meter.path), str(seconds)], stdout=subprocess.PIPE, text=True
    )


def percentile(values, share):
    values = sorted(values)
    return values[min(len(values) - 1, int(len(values) * share))] if values else float("nan")


def main():
    if sys.argv[1:2] == ["--meter"]:
        return meter(sys.argv[2], float(sys.argv[3]))
    parser = argparse.ArgumentParser()
    parser.add_argument("--busnode", default=".build/release/busnode")
    parser.add_argument("--seconds", type=float, default=4)
    parser.add_argument("--preload")
    parser.add_argument("--only", default="")
    parser.add_argument("--turns", type=int, default=1, help="measure each attack so often, quiet and attacked in turns")
    options = parser.parse_args()
    options.busnode = str(Path(options.busnode).resolve())
    os.environ["PYTHONDONTWRITEBYTECODE"] = "1"
    chosen = [attack for attack in ATTACKS if not options.only or attack.__name__ in options.only.split(",")]
    scene, all_is_well = Scene(options), True
    quiet_all, under_all, rows = [], [], []
    try:
        print("the hub uses", ", ".join(scene.libzmq()), flush=True)
        first = scene.footprint()
        print("attack | tries | answers | refused | p50 ms quiet, attacked | p99 ms quiet, attacked", flush=True)
        for attack in chosen:
            turns, result = [], Result()
            for _ in range(options.turns):
                quiet = json.loads(measured(scene, options.seconds).communicate()[0])
                end = time.monotonic() + options.seconds + 0.5
                timed = measured(scene, options.seconds)
                result.add(attack(scene, lambda: end))
                under = json.loads(timed.communicate()[0])
                turns.append((quiet, under))
                quiet_all += quiet["waits"]
                under_all += under["waits"]
            wrong = sum(one["wrong"] for turn in turns for one in turn)
            if wrong:
                result.fault(f"{wrong} honest presses without a verdict")
            if not scene.alive():
                result.fault("the hub has ended")
            all_is_well = all_is_well and result.is_refused
            # The medians of the turns.
            numbers = [
                percentile([percentile(turn[side]["waits"], share) for turn in turns], 0.5)
                for share in (0.5, 0.99) for side in (0, 1)]
            rows.append({
                "attack": attack.__name__, "tries": result.tries, "answers": result.answers, "faults": result.faults,
                "refused": result.is_refused, "p50": numbers[:2], "p99": numbers[2:]})
            print(
                f"{attack.__name__} | {result.tries} | {result.text} | {'yes' if result.is_refused else 'NO'} | "
                f"{numbers[0]:.1f}, {numbers[1]:.1f} | {numbers[2]:.1f}, {numbers[3]:.1f}", flush=True)
            if not scene.alive():
                break
        print(
            f"all | | | {'yes' if all_is_well else 'NO'} | {percentile(quiet_all, .5):.1f}, "
            f"{percentile(under_all, .5):.1f} | {percentile(quiet_all, .99):.1f}, {percentile(under_all, .99):.1f}")
        # Connections that were reset go some time later.
        if scene.alive():
            Scene.wait_for(lambda: scene.footprint()[1] <= first[1] + 8, "descriptors of before", 30)
            last = scene.footprint()
            print(f"the hub: {first[0]:.1f} MiB and {first[1]} descriptors before, {last[0]:.1f} and {last[1]} after")
            if scene.run("phone", "send", "stop").returncode:
                print("the run could not be stopped")
                all_is_well = False
        log = scene.log.read_text()
        leaks = [secret for secret in scene.secrets if secret in log]
        print(f"log: {len(log.splitlines())} lines, {len(leaks)} of {len(scene.secrets)} secrets in it")
        all_is_well = all_is_well and not leaks and scene.alive()
        print(json.dumps({"attacks": rows, "ok": all_is_well}))
    finally:
        scene.end()
    return 0 if all_is_well else 1


if __name__ == "__main__":
    sys.exit(main())
