"""What a paired device floods its hub with: one body after the other, as fast as a socket takes them (attacks.py)."""

import itertools
import os
import uuid

import runbus


def _frame(session=0, **message):
    return runbus.PeerFrame(session=session, sent_at_ns=runbus.monotonic_ns(), **message).SerializeToString()


def hello(device, store=None, version=0):
    """A hello; each without a store has a new one."""
    return _frame(
        hello=runbus.Hello(
            version=runbus.VERSION, device_id=device, role="watch", node_id=uuid.uuid4().bytes,
            store_id=store or uuid.uuid4().bytes, nonce=int.from_bytes(os.urandom(7), "big"), term_seen=0,
            list_version=version,
        )
    )


def hellos(device, session):
    """Hellos, each with a store of its own."""
    while True:
        yield hello(device)


def samples(device, session):
    """Readings in order, 500 to a frame."""
    for first in itertools.count(1, 500):
        readings = [
            runbus.Sample(sequence=first + number, age_ns=0, heart_rate_bpm=100 + number % 80) for number in range(500)
        ]
        yield _frame(session, samples=runbus.Samples(samples=readings))


def queries(device, session):
    """Questions about the run: its state, its numbers, its route, its charts and its records."""
    asked = [
        runbus.Inquiry(series=runbus.AskSeries()), runbus.Inquiry(route=runbus.AskRoute()),
        runbus.Inquiry(report=runbus.AskReport()), runbus.Inquiry(records=runbus.ListRecords()),
    ]
    bodies = [_frame(session, inquiry=inquiry) for inquiry in asked] + [_frame(session, query=runbus.Query())]
    bodies.append(_frame(request=runbus.Request(version=runbus.VERSION, inquiry=asked[0])))
    yield from itertools.cycle(bodies)


def messages(device, session):
    """Messages of an app, in order, and newest values."""
    for number in itertools.count(1):
        message = runbus.AppMessage(id=uuid.uuid4().bytes, name="flood", body=bytes(100))
        stream = runbus.Messages(messages=[runbus.MessageTransmission(sequence=number, message=message)])
        yield _frame(session, delivery=runbus.Delivery(messages=stream))
        value = runbus.Latest(key=f"flood{number % 8}", version=number, value=message)
        yield _frame(session, delivery=runbus.Delivery(latest=value))


def pings(device, session):
    """Pings, frames of an unknown kind, and frames that cannot be read."""
    ping = _frame(session, ping=runbus.Ping(number=1, next_within_ns=2 * 10**9))
    yield from itertools.cycle([ping, ping, ping, ping, bytes([0xF2, 0x07, 0]), b"\xff" * 40])


KINDS = [hellos, samples, queries, messages, pings]
