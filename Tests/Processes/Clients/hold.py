"""Opens connections to a hub in bursts and holds them, until the hub cuts them.

    python hold.py CONTROL_ENDPOINT SEED COUNT

Prints how many there were when the first was cut; with COUNT of them open and none cut it fails.
"""

import select
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
import zmtp  # noqa: E402

BURST = 20


def main():
    control, count = sys.argv[1], int(sys.argv[3])
    held = []
    while len(held) < count:
        try:
            held += [zmtp.plain(control) for _ in range(BURST)]
        except OSError:
            # It does not accept connections at the moment.
            print(f"cut at {len(held)}")
            return
        time.sleep(0.05)
        for connection in select.select(held, [], [], 0)[0]:
            try:
                closed = not connection.recv(4096)
            except ConnectionResetError:
                closed = True
            if closed:
                print(f"cut at {len(held)}")
                return
    sys.exit(f"{len(held)} connections, and none was cut")


if __name__ == "__main__":
    main()
