"""Sends malformed frames to both sockets of a hub, as fast as it accepts them.

    python frames.py CONTROL_ENDPOINT SEED COUNT

Frames are valid ones of every kind, drawn by the schema, then flipped, cut, extended, spliced or of another version;
besides there are frames that are too long, messages of wrong shapes, and bytes that are no ZMTP at all. What comes out
as a frame that means something to a hub is not thrown. Some connections read the hub's answers, others never do.
Prints one JSON object: what was thrown, by kind, and how long it took until the hub had taken all of it in.
"""

import json
import random
import select
import sys
import time
import uuid
from collections import Counter
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).resolve().parents[3] / "examples/python")]
import runbus  # noqa: E402
import zmtp  # noqa: E402

FRAME_BYTES_MAX = 65_536
BATCH = 200


def hello():
    return runbus.PeerFrame(
        sent_at_ns=runbus.monotonic_ns(),
        hello=runbus.Hello(
            version=runbus.VERSION, device_id="stranger", role="watch", node_id=uuid.uuid4().bytes,
            store_id=uuid.uuid4().bytes, nonce=1,
        ),
    )


class Schema:
    """Valid bytes of every kind of message."""

    def __init__(self, chance):
        self.chance = chance
        self.kinds = runbus.PeerFrame.DESCRIPTOR.oneofs_by_name["message"].fields

    def value(self, field, depth):
        chance = self.chance
        if field.cpp_type == field.CPPTYPE_STRING:
            if field.type == field.TYPE_BYTES:
                return chance.randbytes(chance.choice([0, 15, 16, 16, 16, 16, 17, 40]))
            return chance.choice(["watch", "stranger", "", "liveActivity", "Ünicode", "x" * 40])
        if field.cpp_type in (field.CPPTYPE_DOUBLE, field.CPPTYPE_FLOAT):
            return chance.choice([0.0, -1.0, 1e300, float("nan"), float("inf"), chance.random() * 90])
        if field.cpp_type == field.CPPTYPE_BOOL:
            return chance.random() < 0.5
        if field.cpp_type == field.CPPTYPE_ENUM:
            return chance.choice([0, 1, 2, 3, 999])
        bits = 32 if field.cpp_type in (field.CPPTYPE_INT32, field.CPPTYPE_UINT32) else 64
        signed = field.cpp_type in (field.CPPTYPE_INT32, field.CPPTYPE_INT64)
        number = chance.choice([0, 1, 2, chance.getrandbits(20), (1 << (bits - 1)) - 1, chance.getrandbits(bits - 1)])
        return -number if signed and chance.random() < 0.2 else number

    def fill(self, message, depth=0):
        for field in message.DESCRIPTOR.fields:
            if field.containing_oneof and self.chance.random() < 0.6 or self.chance.random() < 0.2 or depth > 5:
                continue
            if field.is_repeated:
                if field.message_type and not field.message_type.GetOptions().map_entry:
                    for _ in range(self.chance.randrange(3)):
                        self.fill(getattr(message, field.name).add(), depth + 1)
            elif field.message_type:
                self.fill(getattr(message, field.name), depth + 1)
                getattr(message, field.name).SetInParent()
            else:
                setattr(message, field.name, self.value(field, depth))

    def frame(self, session):
        frame = runbus.PeerFrame(session=session, sent_at_ns=runbus.monotonic_ns())
        field = self.chance.choice(self.kinds)
        if field.message_type:
            self.fill(getattr(frame, field.name))
            getattr(frame, field.name).SetInParent()
        else:
            # What another schema describes goes as bytes.
            setattr(frame, field.name, self.value(field, 0))
        return frame.SerializeToString()


class Mutants:
    def __init__(self, chance):
        self.chance = chance
        self.schema = Schema(chance)

    def draw(self, session):
        """The kind of mutation, and the mutated frame."""
        chance = self.chance
        whole = self.schema.frame(session)
        way = chance.choice(["flipped", "truncated", "extended", "spliced", "wrong version"])
        if way == "flipped":
            data = bytearray(whole)
            for _ in range(chance.choice([1, 1, 1, 2, 8])):
                data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
            return way, bytes(data)
        if way == "truncated":
            return way, whole[: chance.randrange(len(whole))]
        if way == "extended":
            return way, whole + chance.randbytes(chance.choice([1, 2, 8, 100, 2000]))
        if way == "spliced":
            other = self.schema.frame(session)
            return way, whole[: chance.randrange(1, len(whole))] + other[chance.randrange(len(other)) :]
        frame = hello()
        frame.hello.version = chance.choice([0, 1, 3, 99, (1 << 32) - 1])
        return way, frame.SerializeToString()

    def next(self, session):
        """A frame without effect: it cannot be decoded, has no message, or does not belong to the session."""
        while True:
            way, data = self.draw(session)
            if not data:
                continue
            try:
                frame = runbus.PeerFrame.FromString(data)
            except Exception:
                return way, data
            kind = frame.WhichOneof("message")
            if kind == "hello" and frame.hello.version == runbus.VERSION:
                continue
            if kind == "request" and frame.session == 0 and frame.request.version == runbus.VERSION:
                continue
            if session == 0 or frame.session != session or kind is None:
                return way, data

    def multipart(self):
        """A malformed multipart message, as the bytes of its frames."""
        chance = self.chance
        whole = hello().SerializeToString()
        parts = chance.choice([
            [b""], [b"", b""], [b""] * 20, [whole, whole], [b"", whole, b""], [b"", b"", whole],
            [b"", chance.randbytes(20)], [chance.randbytes(chance.randrange(300)) for _ in range(chance.randrange(2, 6))],
        ])
        return b"".join(zmtp.frame(part, 1 if index < len(parts) - 1 else 0) for index, part in enumerate(parts))

    def event(self):
        """A message that no regular subscriber sends to the events socket."""
        chance = self.chance
        return zmtp.frame(chance.choice([
            b"", b"\x05" + chance.randbytes(8), b"\x01" + chance.randbytes(chance.randrange(1, 200)), b"\x00s",
            b"\x00" + chance.randbytes(10), chance.randbytes(chance.randrange(1, 400)),
        ]))


class Thrower:
    """A connection that sends; it is opened again when the hub has closed it."""

    def __init__(self, endpoint, kind, reads=True):
        self.endpoint, self.kind, self.reads = endpoint, kind, reads
        self.connection = None
        self.session = 0

    def open(self):
        if self.connection is None:
            self.connection = zmtp.shake(zmtp.plain(self.endpoint), self.kind)
            self.session = 0

    def join(self):
        """Opens a session, so that malformed frames within it are refused."""
        self.open()
        self.connection.sendall(zmtp.frame(hello().SerializeToString()))
        while True:
            answer = runbus.HubFrame.FromString(zmtp.read_message(self.connection))
            if answer.WhichOneof("message") == "welcome":
                self.session = answer.session
                return answer.welcome.events_endpoint

    def throw(self, data):
        self.open()
        try:
            self.connection.sendall(data)
            while self.reads and select.select([self.connection], [], [], 0)[0]:
                if not self.connection.recv(1 << 20):
                    raise ConnectionError("closed")
        except (ConnectionError, TimeoutError):
            self.close()

    def close(self):
        if self.connection is not None:
            zmtp.reset(self.connection)
        self.connection = None

    def settle(self):
        """Waits for an answer to the last frame: then the hub has read all of them."""
        if self.connection is not None and self.reads and self.kind == "DEALER":
            try:
                self.join()
            except ConnectionError:
                pass
        self.close()


def raw(chance, endpoint):
    """Sends bytes that are not ZMTP, or not from some point on."""
    with zmtp.plain(endpoint) as connection:
        try:
            connection.sendall(chance.choice([
                chance.randbytes(chance.randrange(1, 4096)),
                zmtp.GREETING + chance.randbytes(200),
                # A frame that announces four gigabytes.
                zmtp.GREETING + b"\x02" + (1 << 32).to_bytes(8, "big") + chance.randbytes(64),
                b"GET / HTTP/1.1\r\nHost: phone\r\n\r\n",
            ]))
        except OSError:
            pass


def main():
    control, seed, count = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    chance = random.Random(seed)
    mutants = Mutants(chance)
    thrown = Counter()
    begun = time.monotonic()
    members = [Thrower(control, "DEALER") for _ in range(2)]
    events_endpoint = [member.join() for member in members][0]
    strangers = [Thrower(control, "DEALER", reads=number % 2 == 0) for number in range(4)]
    strangers.append(Thrower(control, "REQ"))
    subscribers = [Thrower(events_endpoint, "SUB", reads=number % 2 == 0) for number in range(2)]
    while sum(thrown.values()) < count:
        roll = chance.randrange(100)
        if roll < 8:
            subscriber = chance.choice(subscribers)
            subscriber.throw(b"".join(mutants.event() for _ in range(BATCH)))
            thrown["no subscription"] += BATCH
            # Opens a new connection now and then, which also drops its subscriptions.
            if roll == 0:
                subscriber.close()
        elif roll < 18:
            chance.choice(strangers).throw(b"".join(mutants.multipart() for _ in range(BATCH)))
            thrown["wrong multipart"] += BATCH
        elif roll < 21:
            for _ in range(20):
                raw(chance, chance.choice([control, events_endpoint]))
            thrown["no ZMTP"] += 20
        elif roll < 22:
            # The hub closes the connection each time.
            for thrower in strangers:
                thrower.throw(zmtp.frame(chance.randbytes(FRAME_BYTES_MAX + 1)))
                thrower.close()
            thrown["oversized"] += len(strangers)
        else:
            thrower = chance.choice(members + strangers[:-1])
            if thrower in members and thrower.connection is None:
                thrower.join()
            data = []
            for _ in range(BATCH):
                way, frame = mutants.next(thrower.session)
                thrown[way] += 1
                data.append(zmtp.frame(frame))
            thrower.throw(b"".join(data))
    for thrower in members + strangers + subscribers:
        thrower.settle()
    seconds = time.monotonic() - begun
    print(json.dumps({"thrown": sum(thrown.values()), "seconds": round(seconds, 2), "kinds": dict(thrown)}))


if __name__ == "__main__":
    main()
