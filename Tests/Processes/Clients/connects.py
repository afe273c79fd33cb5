"""Connects to a hub and leaves again, in every possible way.

    python connects.py CONTROL_ENDPOINT SEED COUNT wait|leave

With `wait` it stays until the hub has ended the handshakes that were left open. Prints one JSON object: how often it
left in which way, and how long that took.
"""

import json
import random
import sys
import time
import uuid
from collections import Counter
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).resolve().parents[3] / "examples/python")]
import runbus  # noqa: E402
import zmtp  # noqa: E402

DEVICES = [(f"visitor{number}", uuid.uuid4().bytes, uuid.uuid4().bytes) for number in range(20)]


class Visits:
    def __init__(self, control, seed):
        self.control, self.events = control, None
        self.chance = random.Random(seed)
        # Unfinished handshakes that are left open: the hub has to end them.
        self.open = []
        self.nonce = 0

    def hello(self):
        device, node, store = self.chance.choice(DEVICES)
        self.nonce += 1
        return runbus.PeerFrame(
            sent_at_ns=runbus.monotonic_ns(),
            hello=runbus.Hello(
                version=runbus.VERSION, device_id=device, role="watch", node_id=node, store_id=store, nonce=self.nonce,
            ),
        ).SerializeToString()

    def welcomed(self):
        connection = zmtp.shake(zmtp.plain(self.control), "DEALER")
        connection.sendall(zmtp.frame(self.hello()))
        while True:
            answer = runbus.HubFrame.FromString(zmtp.read_message(connection))
            if answer.WhichOneof("message") == "welcome":
                self.events = answer.welcome.events_endpoint
                return connection, answer.session

    def goodbye(self):
        connection, session = self.welcomed()
        connection.sendall(
            zmtp.frame(runbus.PeerFrame(session=session, goodbye=runbus.Goodbye()).SerializeToString()))
        connection.close()

    def gone_after_welcome(self):
        zmtp.reset(self.welcomed()[0])

    def gone_after_request(self):
        connection = zmtp.shake(zmtp.plain(self.control), "DEALER")
        request = runbus.Request(version=runbus.VERSION, state=runbus.Query())
        connection.sendall(
            zmtp.frame(runbus.PeerFrame(sent_at_ns=runbus.monotonic_ns(), request=request).SerializeToString()))
        zmtp.read_message(connection)
        zmtp.reset(connection)

    def gone_before_welcome(self):
        connection = zmtp.shake(zmtp.plain(self.control), "DEALER")
        connection.sendall(zmtp.frame(self.hello()))
        zmtp.reset(connection)

    def silent(self):
        zmtp.reset(zmtp.plain(self.chance.choice([self.control, self.events])))

    def half_greeting(self):
        connection = zmtp.plain(self.chance.choice([self.control, self.events]))
        connection.sendall(zmtp.GREETING[: self.chance.randrange(1, 64)])
        zmtp.reset(connection)

    def half_ready(self):
        connection = zmtp.plain(self.chance.choice([self.control, self.events]))
        whole = zmtp.GREETING + zmtp.ready(self.chance.choice(["DEALER", "SUB", "REQ"]))
        connection.sendall(whole[: self.chance.randrange(64, len(whole))])
        zmtp.reset(connection)

    def left_open(self):
        connection = zmtp.plain(self.chance.choice([self.control, self.events]))
        connection.sendall(zmtp.GREETING[: self.chance.randrange(0, 64)])
        self.open.append(connection)
        if len(self.open) > 50:
            zmtp.reset(self.open.pop(0))

    def subscriber(self):
        connection = zmtp.shake(zmtp.plain(self.events), "SUB")
        connection.sendall(zmtp.frame(b"\x01s"))
        zmtp.read_message(connection)
        zmtp.reset(connection)

    def unread_subscriber(self):
        connection = zmtp.shake(zmtp.plain(self.events), "SUB")
        connection.sendall(zmtp.frame(b"\x01"))
        zmtp.reset(connection)


def main():
    control, seed, count = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    visits = Visits(control, seed)
    begun = time.monotonic()
    visits.goodbye()
    ways = [
        visits.goodbye, visits.gone_after_welcome, visits.gone_after_request, visits.gone_before_welcome, visits.silent,
        visits.half_greeting, visits.half_ready, visits.left_open, visits.subscriber, visits.unread_subscriber,
    ]
    seen = Counter(goodbye=1)
    for number in range(count - 1):
        way = ways[number % len(ways)]
        way()
        seen[way.__name__] += 1
    seconds = time.monotonic() - begun
    # The hub closes connections that send nothing.
    for connection in visits.open:
        connection.settimeout(30)
        try:
            while sys.argv[4] == "wait" and connection.recv(4096):
                pass
        except ConnectionResetError:
            pass
        zmtp.reset(connection)
    print(json.dumps({"seconds": round(seconds, 2), "left": dict(seen)}))


if __name__ == "__main__":
    main()
