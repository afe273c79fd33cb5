"""Pairs this client with a hub: reads the line of `busnode pair` from standard input and keeps the keys in a file.

    busnode pair                                        on the hub's machine
    python pair.py --device py-watch --keys keys.json   here; then: python watch.py --keys keys.json
"""

import argparse
import base64
import hashlib
import sys
import time
from urllib.parse import parse_qs, urlsplit

import zmq
from zmq.utils import z85

import runbus


def decoded(text):
    """Decodes base64 of the URL alphabet without padding."""
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


def digits(hub, device, token):
    """Returns the six digits that the hub shows, too."""
    number = int.from_bytes(hashlib.sha256(b"runbus-pairing-1" + hub + device + token).digest()[:8], "big") % 1_000_000
    return f"{number // 1000:03} {number % 1000:03}"


def main():
    parser = argparse.ArgumentParser(description="Pairs this client with a hub and keeps its keys.")
    parser.add_argument("--device", default="py-watch", help="the name that it wants (%(default)s)")
    parser.add_argument("--keys", default="keys.json", metavar="FILE", help="where to keep the keys (%(default)s)")
    parser.add_argument("--timeout", type=float, default=120, metavar="SECONDS", help="give up after this (%(default)s)")
    options = parser.parse_args()

    line = urlsplit(sys.stdin.readline().strip())
    query = parse_qs(line.query)
    hub, token = decoded(query["k"][0]), decoded(query["t"][0])
    # The key and the hub's are on the disk before anything is sent: if the answer is lost, the hub may have paired them.
    public, secret = (z85.decode(key) for key in zmq.curve_keypair())
    host = line.netloc.rpartition(":")[0]
    keys = runbus.Keys.make(
        options.keys,
        {"public": public.hex(), "secret": secret.hex(), "hub": hub.hex(), "control": f"tcp://{host}:{line.port - 2}"},
    )
    socket = zmq.Context.instance().socket(zmq.DEALER)
    socket.setsockopt(zmq.LINGER, 0)
    keys.secure(socket)
    socket.connect(f"tcp://{line.netloc}")
    request = runbus.PeerFrame(
        pairing=runbus.PairingRequest(token=token, device_id=options.device, role="watch", sources=["watch", "shell"])
    )
    deadline, has_waited = time.monotonic() + options.timeout, False
    while time.monotonic() < deadline:
        request.sent_at_ns = time.monotonic_ns()
        socket.send(request.SerializeToString())
        if not socket.poll(1000):
            continue
        answer = runbus.HubFrame.FromString(socket.recv()).pairing
        kind = answer.WhichOneof("answer")
        if kind == "paired":
            keys.note(answer.paired)
            print(f"paired as {answer.paired.device_id}", flush=True)
            return 0
        if kind == "refused":
            print(f"not paired: {answer.refused}", file=sys.stderr)
            return 65
        if not has_waited:
            print(f"the hub must show the same digits: {digits(hub, public, token)}", flush=True)
            has_waited = True
        time.sleep(1)
    print("gave up: no hub answers", file=sys.stderr)
    return 69


if __name__ == "__main__":
    sys.exit(main())
