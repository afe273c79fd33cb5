"""Sends garbage to both sockets of a bus: raw bytes, malformed multipart messages, damaged frames.

    python garbage.py CONTROL_ENDPOINT SEED

Prints "thrown N" when the hub has been given everything; nothing in it is a valid command.
"""

import random
import socket
import sys
import uuid
from pathlib import Path

import zmq

sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "examples/python"))
import runbus  # noqa: E402

GREETING = b"\xff" + bytes(8) + b"\x7f\x03\x00NULL" + bytes(16) + b"\x00" + bytes(31)


def hello():
    return runbus.PeerFrame(
        sent_at_ns=runbus.monotonic_ns(),
        hello=runbus.Hello(
            version=runbus.VERSION, device_id="stranger", role="watch", node_id=uuid.uuid4().bytes,
            store_id=uuid.uuid4().bytes, nonce=1,
        ),
    )


def events_endpoint(context, control):
    """The endpoint at which snapshots are published, from a welcome."""
    with context.socket(zmq.DEALER) as dealer:
        dealer.setsockopt(zmq.RCVTIMEO, 20_000)
        dealer.connect(control)
        dealer.send(hello().SerializeToString())
        while True:
            frame = runbus.HubFrame.FromString(dealer.recv_multipart()[-1])
            if frame.WhichOneof("message") == "welcome":
                dealer.send(runbus.PeerFrame(session=frame.session, goodbye=runbus.Goodbye()).SerializeToString())
                return frame.welcome.events_endpoint


def raw(endpoint, payload):
    """Sends bytes on a plain connection; the hub may close it at any moment."""
    kind, _, place = endpoint.partition("://")
    if kind == "ipc":
        plain = socket.socket(socket.AF_UNIX)
        plain.connect(place)
    else:
        host, _, port = place.rpartition(":")
        plain = socket.create_connection((host, int(port)))
    with plain:
        try:
            plain.sendall(payload)
        except OSError:
            pass


def multiparts(chance):
    whole = hello().SerializeToString()
    pause = runbus.PeerFrame(
        session=chance.getrandbits(63), command=runbus.Transmission(command=runbus.command("pause"), sequence=1)
    ).SerializeToString()
    yield [b""]
    yield [b"", b""]
    yield [b""] * 20
    yield [chance.randbytes(65_536)]
    yield [whole, whole]
    yield [b"", whole, b""]
    # A session number that was never assigned.
    yield [pause]
    yield [b"", pause]
    for _ in range(100):
        yield [chance.randbytes(chance.randrange(300)) for _ in range(chance.randrange(1, 5))]
        yield [whole[: chance.randrange(len(whole))]]
        damaged = bytearray(pause)
        damaged[chance.randrange(len(damaged))] ^= 1 << chance.randrange(8)
        yield [bytes(damaged)]


def main():
    control, seed = sys.argv[1], int(sys.argv[2])
    chance = random.Random(seed)
    context = zmq.Context()
    events = events_endpoint(context, control)
    thrown = 0
    for endpoint in (control, events):
        for _ in range(20):
            raw(endpoint, chance.randbytes(chance.randrange(1, 4096)))
            # After a valid greeting: a frame that announces four gigabytes, and noise.
            raw(endpoint, GREETING + b"\x02" + (1 << 32).to_bytes(8, "big") + chance.randbytes(64))
            raw(endpoint, GREETING + chance.randbytes(200))
            thrown += 3
    for endpoint, kinds in ((control, (zmq.DEALER, zmq.REQ, zmq.PUSH)), (events, (zmq.XSUB, zmq.DEALER, zmq.SUB))):
        for kind in kinds:
            with context.socket(kind) as stranger:
                stranger.setsockopt(zmq.LINGER, 1000)
                stranger.setsockopt(zmq.SNDTIMEO, 200)
                if kind == zmq.REQ:
                    stranger.setsockopt(zmq.REQ_RELAXED, 1)
                stranger.connect(endpoint)
                if kind == zmq.SUB:
                    for length in (0, 1, 245, 246, 255, 4096):
                        stranger.subscribe(chance.randbytes(length))
                    thrown += 6
                    continue
                try:
                    for parts in multiparts(chance):
                        stranger.send_multipart(parts)
                        thrown += 1
                except zmq.Again:
                    # A socket of a type that does not fit never connects; the refusal is what is tested.
                    pass
    # Larger than the hub's limit: it closes the connection.
    with context.socket(zmq.DEALER) as stranger:
        stranger.setsockopt(zmq.LINGER, 1000)
        stranger.connect(control)
        stranger.send(chance.randbytes(1 << 20))
    context.term()
    print(f"thrown {thrown + 1}")


if __name__ == "__main__":
    main()
