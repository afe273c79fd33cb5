"""Another user of the hub's machine at its local sockets.

    python other_user.py UID SOCKET ...

Becomes that user, connects to each socket, and prints at how many of them libzmq has finished a handshake.
"""

import os
import sys

import zmq
from zmq.utils.monitor import recv_monitor_message

context = zmq.Context()
os.setuid(int(sys.argv[1]))
connected = 0
for path in sys.argv[2:]:
    kind = zmq.SUB if path.endswith("events.sock") else zmq.DEALER
    client = context.socket(kind)
    client.setsockopt(zmq.LINGER, 0)
    monitor = client.get_monitor_socket(zmq.EVENT_HANDSHAKE_SUCCEEDED)
    client.connect(f"ipc://{path}")
    if monitor.poll(2000):
        assert recv_monitor_message(monitor)["event"] == zmq.EVENT_HANDSHAKE_SUCCEEDED
        connected += 1
    client.disable_monitor()
    client.close()
print(f"connected {connected}", flush=True)
