"""Subscribes to everything and never reads a byte, but answers as if it were alive.

    python mute.py EVENTS_ENDPOINT SEED COUNT

Prints "subscribed" and stays until the end of its standard input.
"""

import select
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
import zmtp  # noqa: E402


def main():
    events, count = sys.argv[1], int(sys.argv[3])
    mutes = []
    for _ in range(count):
        # A small receive buffer, so that unread messages wait at the hub.
        mute = zmtp.shake(zmtp.plain(events, receive_bytes=4096), "SUB")
        mute.sendall(zmtp.frame(b"\x01"))
        mutes.append(mute)
    print("subscribed", flush=True)
    while not select.select([sys.stdin], [], [], 1)[0]:
        for mute in mutes:
            mute.sendall(zmtp.frame(b"\x04PONG", 4))
    for mute in mutes:
        zmtp.reset(mute)


if __name__ == "__main__":
    main()
