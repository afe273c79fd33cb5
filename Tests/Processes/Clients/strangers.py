"""Strangers at the ports of a hub with keys: nobody here is paired.

    python strangers.py HOST CONTROL EVENTS HUB_KEY SECONDS

Does for so many seconds, again and again, what somebody in the same network can do without a key that is let in, and
then prints how often each of them was answered with anything but a refusal of libzmq.
"""

import os
import socket
import sys
import time

import zmq
from zmq.utils import z85

HALF_OPEN = int(os.environ.get("HALF_OPEN", "100"))


def raw(host, port):
    connection = socket.create_connection((host, port), timeout=5)
    connection.settimeout(0.2)
    return connection


def half_open(host, ports):
    """Connections that say nothing."""
    return [raw(host, ports[number % 2]) for number in range(HALF_OPEN)]


def slow(host, ports):
    """Handshakes of one byte."""
    connections = [raw(host, ports[number % 2]) for number in range(20)]
    for connection in connections:
        connection.send(b"\xff")
    return connections


def garbage(host, ports):
    for port in ports:
        connection = raw(host, port)
        try:
            connection.sendall(os.urandom(4096))
        except OSError:
            pass
        connection.close()


def oversize(host, ports):
    """A greeting of ZMTP with the NULL mechanism, and then a frame of a gigabyte."""
    greeting = b"\xff" + bytes(8) + b"\x7f\x03\x00" + b"NULL".ljust(20, b"\0") + bytes(32)
    for port in ports:
        connection = raw(host, port)
        try:
            connection.sendall(greeting + b"\x06" + (1 << 30).to_bytes(8, "big") + bytes(1000))
        except OSError:
            pass
        connection.close()


def client(context, kind, endpoint, hub=None, server=None):
    """A socket without keys, or with a key that is not let in."""
    made = context.socket(kind)
    made.setsockopt(zmq.LINGER, 0)
    if hub:
        public, secret = zmq.curve_keypair()
        made.setsockopt(zmq.CURVE_SERVERKEY, server or hub)
        made.setsockopt(zmq.CURVE_PUBLICKEY, z85.decode(public))
        made.setsockopt(zmq.CURVE_SECRETKEY, z85.decode(secret))
    made.connect(endpoint)
    if kind == zmq.SUB:
        for number in range(256):
            made.setsockopt(zmq.SUBSCRIBE, bytes([number]))
        made.setsockopt(zmq.SUBSCRIBE, b"")
    else:
        made.send(os.urandom(64))
    return made


def main():
    host, control, events = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    hub, end = bytes.fromhex(sys.argv[4]), time.monotonic() + float(sys.argv[5])
    ports, answers, rounds = (control, events), 0, 0
    print("begun", flush=True)
    while time.monotonic() < end:
        context = zmq.Context()
        held = half_open(host, ports) + slow(host, ports)
        garbage(host, ports)
        oversize(host, ports)
        wrong = z85.decode(zmq.curve_keypair()[0])
        clients = []
        for kind, port in ((zmq.DEALER, control), (zmq.SUB, events)):
            for keys in ((None, None), (hub, None), (hub, wrong)):
                clients.append(client(context, kind, f"tcp://{host}:{port}", *keys))
        poller = zmq.Poller()
        for one in clients:
            poller.register(one, zmq.POLLIN)
        answers += len(poller.poll(500))
        for connection in held:
            connection.close()
        context.destroy(linger=0)
        rounds += 1
    print(f"answers {answers} in {rounds} rounds", flush=True)


main()
