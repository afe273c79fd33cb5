"""Prints what two independent libraries read from FIT files: a JSON object a file and library, or null where the library
says that it does not support compressed times.

    read_fit.py FILE ...

Each has "points" (a list of [second since the first point, latitude, longitude, altitude, distance, heart rate]), "laps"
and "session" (lists of [seconds of the timer, metres]), and "stops" (the times of the timer's events, with whether it runs).
"""

import datetime
import json
import sys

import fitparse
import garmin_fit_sdk

EPOCH = datetime.datetime(1989, 12, 31)
DEGREES = 180 / 2**31


def by_fitparse(path):
    kinds = {"record": [], "lap": [], "session": [], "event": []}
    for message in fitparse.FitFile(path).get_messages():
        if message.name in kinds:
            kinds[message.name].append({field.name: field.value for field in message.fields})
    return kinds, lambda time: (time - EPOCH).total_seconds()


def by_sdk(path):
    messages, errors = garmin_fit_sdk.Decoder(garmin_fit_sdk.Stream.from_file(path)).read(
        convert_datetimes_to_dates=False, merge_heart_rates=False)
    if any("Compressed timestamp messages are not currently supported" in str(error) for error in errors):
        return None
    if errors:
        raise SystemExit(f"{path}: {errors}")
    names = {"record": "record_mesgs", "lap": "lap_mesgs", "session": "session_mesgs", "event": "event_mesgs"}
    return {kind: messages.get(name, []) for kind, name in names.items()}, lambda time: time


def number(value):
    return value[0] if isinstance(value, (list, tuple)) else value


def content(kinds, seconds):
    points = []
    for record in kinds["record"]:
        if record.get("timestamp") is None:
            continue
        latitude, longitude = (number(record.get(name)) for name in ("position_lat", "position_long"))
        altitude = record.get("enhanced_altitude")
        points.append([
            seconds(record["timestamp"]), latitude and latitude * DEGREES, longitude and longitude * DEGREES,
            number(record.get("altitude") if altitude is None else altitude), number(record.get("distance")),
            number(record.get("heart_rate"))])
    first = points[0][0] if points else 0
    figures = lambda message: [message.get("total_timer_time"), message.get("total_distance")]
    return {
        "points": [[point[0] - first] + point[1:] for point in points],
        "laps": [figures(lap) for lap in kinds["lap"]],
        "session": [figures(session) for session in kinds["session"]],
        "stops": [[seconds(event["timestamp"]) - first, event.get("event_type") == "start"]
                  for event in kinds["event"] if event.get("event") == "timer"],
    }


for path in sys.argv[1:]:
    for read in (by_fitparse, by_sdk):
        messages = read(path)
        print(json.dumps(messages and content(*messages)))
