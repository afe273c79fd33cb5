"""The bytes of a record, see docs/protocol.md, "The bytes of a record".

    python records.py FILE      prints a complete record as JSON, with every field
"""

import json
import math
import struct
import sys
from pathlib import Path

SUMMARY_FORM = 3
"""The highest first byte of a summary that this module can read."""
# Form 2 may hold more samples, and is the same otherwise.
BODY_FORM = 2
"""The highest first byte of a body that this module can read."""

ACTIVITIES = {1: "walking", 2: "running", 3: "stationary"}
SOURCES = {1: "positions", 2: "pedometer"}
VERDICTS = dict(enumerate((
    "counted", "anchored", "notRunning", "autoPaused", "invalid", "inaccurate", "stationary", "impossibleSpeed",
    "repeated", "otherReceiver",
), start=1))
METRICS = (
    "distanceMeters", "pedometerMeters", "currentPaceSecondsPerKilometer", "averagePaceSecondsPerKilometer",
    "bestPaceSecondsPerKilometer", "worstPaceSecondsPerKilometer", "heartRateBpm", "averageHeartRateBpm",
    "maxHeartRateBpm", "cadenceStepsPerMinute", "averageCadenceStepsPerMinute", "altitudeMeters",
    "elevationGainMeters", "elevationLossMeters", "energyJoules", "positionAccuracyMeters",
)
MOMENTS = ("distanceNs", "positionNs", "heartRateNs", "cadenceNs", "elevationNs", "activityNs")
SAMPLE = ("distanceMeters", "paceSecondsPerKilometer", "altitudeMeters", "heartRateBpm", "cadenceStepsPerMinute")


class Unreadable(ValueError):
    """The bytes are no record, or one of a later form."""


class Reader:
    """Reads the types of the table in docs/protocol.md from the first byte on."""

    def __init__(self, data):
        self.data, self.place = data, 0

    def take(self, count):
        if self.place + count > len(self.data):
            raise Unreadable("the record ends too early")
        self.place += count
        return self.data[self.place - count : self.place]

    def byte(self):
        return self.take(1)[0]

    def count(self):
        value = 0
        for shift in range(0, 70, 7):
            byte = self.byte()
            value |= (byte & 0x7F) << shift
            if byte < 0x80:
                if value >= 1 << 64:
                    break
                return value
        raise Unreadable("a count is too long")

    def signed(self):
        value = self.count()
        return (value >> 1) ^ -(value & 1)

    def number(self):
        (value,) = struct.unpack("<d", self.take(8))
        if not math.isfinite(value):
            raise Unreadable("a number is not finite")
        return value

    def text(self):
        return self.take(self.count()).decode("utf-8")

    def flag(self):
        byte = self.byte()
        if byte > 1:
            raise Unreadable("a flag is neither 0 nor 1")
        return byte == 1

    def optional(self, read):
        return read() if self.flag() else None

    def list(self, read):
        return [read() for _ in range(self.count())]

    def form(self, last):
        """Returns the number of the form, which is at most `last`."""
        form = self.byte()
        if not 1 <= form <= last:
            raise Unreadable("a later form of records")
        return form

    def end(self):
        if self.place != len(self.data):
            raise Unreadable("bytes follow the record")


def decode(data):
    """Returns a complete record: the length of its summary, the summary, the body."""
    reader = Reader(data)
    length = reader.count()
    return {"summary": summary(reader.take(length)), "body": body(data[reader.place :])}


def summary(data):
    """Returns the fields of a summary."""
    reader = Reader(data)
    form = reader.form(SUMMARY_FORM)
    fields = {
        "runId": reader.take(16).hex(), "version": reader.count(), "deviceId": reader.text(),
        "hubDeviceId": reader.text(), "appVersion": reader.text(), "startedAtUnixSeconds": reader.number(),
        "elapsedNs": reader.signed(), "activeNs": reader.signed(), "distanceMeters": reader.optional(reader.number),
        "elevationGainMeters": reader.optional(reader.number), "averageHeartRateBpm": reader.optional(reader.number),
        "energyJoules": reader.optional(reader.number), "weightKilograms": reader.optional(reader.number),
        "autoPause": reader.flag(), "pedometer": reader.flag(), "conflicted": reader.flag(), "title": reader.text(),
        "note": reader.text(),
        # An earlier form states neither.
        "utcOffsetSeconds": reader.optional(reader.signed) if form > 1 else None,
        "bests": reader.list(lambda: {
            "distanceMeters": reader.number(), "activeNs": reader.signed(), "startedAtNs": reader.signed(),
        }) if form > 1 else [],
        "goalNs": reader.signed() if form > 2 else None,
    }
    reader.end()
    return fields


def body(data):
    """Returns the fields of a body."""
    reader = Reader(data)
    reader.form(BODY_FORM)
    fields = {
        "metrics": _metrics(reader), "kilometers": reader.list(lambda: _split(reader)),
        "miles": reader.list(lambda: _split(reader)), "laps": reader.list(lambda: _split(reader)),
        "stretches": reader.list(lambda: {
            "source": SOURCES.get(reader.byte(), "unknown"), "startedAtNs": reader.signed(),
            "endedAtNs": reader.signed(), "meters": reader.number(),
        }),
        "pauses": reader.list(lambda: {"startedAtNs": reader.signed(), "endedAtNs": reader.signed()}),
        "series": _series(reader), "route": _route(reader),
    }
    reader.end()
    return fields


def _metrics(reader):
    fields = {"elapsedNs": reader.signed(), "activeNs": reader.signed()}
    fields |= {name: reader.optional(reader.number) for name in METRICS}
    fields |= {
        "activity": ACTIVITIES.get(reader.byte(), "unknown"), "activityInferred": reader.flag(),
        "autoPaused": reader.flag(), "lapCount": reader.count(),
    }
    return fields | {"moments": {name: reader.optional(reader.signed) for name in MOMENTS}}


def _split(reader):
    return {
        "number": reader.count(), "distanceMeters": reader.optional(reader.number), "activeNs": reader.signed(),
        "startedAtNs": reader.signed(), "endedAtNs": reader.signed(),
        "averageHeartRateBpm": reader.optional(reader.number), "elevationGainMeters": reader.optional(reader.number),
        "elevationLossMeters": reader.optional(reader.number), "complete": reader.flag(),
    }


def _series(reader):
    step, last = reader.signed(), dict.fromkeys(SAMPLE, 0)

    def sample():
        known, fields = reader.byte(), {}
        for bit, name in enumerate(SAMPLE):
            if known >> bit & 1:
                last[name] += reader.signed()
            fields[name] = last[name] / 100 if known >> bit & 1 else None
        return fields

    return {"stepNs": step, "samples": reader.list(sample)}


def _route(reader):
    offset = 0

    def point():
        nonlocal offset
        head = reader.byte()
        if head >> 7:
            raise Unreadable("the highest bit of a point is set")
        offset += reader.signed()
        fields = {
            "offsetNs": offset, "verdict": VERDICTS.get(head & 0xF, "unknown"), "latitudeDegrees": reader.number(),
            "longitudeDegrees": reader.number(),
        }
        for bit, name in enumerate(("horizontalAccuracyMeters", "altitudeMeters", "distanceMeters"), start=4):
            fields[name] = reader.number() if head >> bit & 1 else None
        return fields

    return reader.list(point)


if __name__ == "__main__":
    print(json.dumps(decode(Path(sys.argv[1]).read_bytes()), ensure_ascii=False, indent=1))
