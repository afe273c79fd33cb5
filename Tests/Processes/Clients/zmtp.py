"""ZMTP 3.0 without libzmq, for clients that violate the protocol."""

import socket
import struct

GREETING = b"\xff" + bytes(8) + b"\x7f\x03\x00NULL" + bytes(16) + b"\x00" + bytes(31)


def plain(endpoint, receive_bytes=None):
    """A connected socket to an ipc or tcp endpoint."""
    kind, _, place = endpoint.partition("://")
    family = socket.AF_UNIX if kind == "ipc" else socket.AF_INET
    connection = socket.socket(family)
    connection.settimeout(20)
    if receive_bytes:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_bytes)
    if kind == "ipc":
        connection.connect(place)
    else:
        host, _, port = place.rpartition(":")
        connection.connect((host, int(port)))
    return connection


def frame(body, flags=0):
    """One frame; flags: 1 for more frames, 4 for a command."""
    if len(body) < 256:
        return bytes([flags, len(body)]) + body
    return bytes([flags | 2]) + struct.pack(">Q", len(body)) + body


def ready(kind):
    """The READY command of a socket type, which follows the greeting."""
    kind = kind.encode()
    properties = b"\x0bSocket-Type" + struct.pack(">I", len(kind)) + kind
    if kind == b"DEALER":
        properties += b"\x08Identity" + struct.pack(">I", 0)
    return frame(b"\x05READY" + properties, 4)


def read(connection, count):
    """Reads exactly `count` bytes."""
    data = b""
    while len(data) < count:
        piece = connection.recv(count - len(data))
        if not piece:
            raise ConnectionError("closed")
        data += piece
    return data


def read_frame(connection):
    """The next frame: its flags and its body."""
    flags = read(connection, 1)[0]
    size = struct.unpack(">Q", read(connection, 8))[0] if flags & 2 else read(connection, 1)[0]
    return flags, read(connection, size)


def read_message(connection):
    """The last part of the next message; commands in between are skipped."""
    while True:
        flags, body = read_frame(connection)
        if not flags & 5:
            return body


def shake(connection, kind):
    """Does the whole handshake."""
    connection.sendall(GREETING + ready(kind))
    read(connection, 64)
    read_frame(connection)
    return connection


def reset(connection):
    """Closes the connection with a reset, where the system supports one."""
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    connection.close()
