"""Reads exported runs with independent parsers and compares them with each run's own JSON.

Each argument is a folder with run.json, run.gpx and run.tcx of one run.
"""

import json
import sys
from datetime import timezone

import gpxpy
from tcxreader.tcxreader import TCXReader

folder = ""


def fail(message):
    sys.exit(f"{folder}: {message}")


def close(name, found, expected, share=0.0, absolute=0.0):
    if found is None or abs(found - expected) > max(abs(expected) * share, absolute):
        fail(f"{name}: {found} instead of {expected}")


def check_points(name, points, counted, start):
    """Checks position and time of every counted fix, to a centimetre and a millisecond."""
    if len(points) != len(counted):
        fail(f"{name}: {len(points)} points instead of {len(counted)}")
    for (latitude, longitude, time), fix in zip(points, counted):
        close(f"{name} latitude", latitude, fix["latitude"], absolute=6e-8)
        close(f"{name} longitude", longitude, fix["longitude"], absolute=6e-8)
        close(f"{name} time", time, start + fix["offsetSeconds"], absolute=0.002)


def check_gpx(path, record, counted):
    metrics, start = record["report"]["metrics"], record["summary"]["startedAtUnixSeconds"]
    with open(path, encoding="utf-8") as file:
        track = gpxpy.parse(file).tracks[0]
    points = [point for segment in track.segments for point in segment.points]
    check_points("gpx", [(p.latitude, p.longitude, p.time.timestamp()) for p in points], counted, start)
    if record["summary"]["runId"] not in (track.link or ""):
        fail("gpx: the run's id is missing")
    if (track.name or "", track.description or "") != (record["summary"]["title"], record["summary"]["note"]):
        fail(f"gpx: {track.name} and {track.description} instead of title and note")
    # A fix without a line from the one before begins a segment; the time between them is not part of the track.
    breaks = [(a, b) for a, b in zip(counted, counted[1:]) if b["startsLine"]]
    if len(track.segments) != 1 + len(breaks):
        fail(f"gpx: {len(track.segments)} segments instead of {1 + len(breaks)}")
    length = counted[-1]["offsetSeconds"] - counted[0]["offsetSeconds"]
    length -= sum(b["offsetSeconds"] - a["offsetSeconds"] for a, b in breaks)
    close("gpx time", track.get_duration(), length, absolute=len(track.segments))
    # gpxpy measures on a sphere instead of the ellipsoid; GPX cannot hold a foot pod's distance.
    has_pod = any(stretch["source"] == "pedometer" for stretch in record["report"]["stretches"])
    close("gpx distance", track.length_2d(), metrics["distanceMeters"], share=0.03 if has_pod else 0.01)
    if metrics["averageHeartRateBpm"] is not None and not any(point.extensions for point in points):
        fail("gpx: no heart rate")


def check_tcx(path, record, counted):
    metrics, start = record["report"]["metrics"], record["summary"]["startedAtUnixSeconds"]
    exercise = TCXReader().read(path, only_gps=False)
    if exercise.activity_type != "Running":
        fail(f"tcx: {exercise.activity_type}")
    points = [point for point in exercise.trackpoints if point.latitude is not None]
    # Its times have no zone and are UTC.
    times = [point.time.replace(tzinfo=timezone.utc).timestamp() for point in points]
    check_points("tcx", [(p.latitude, p.longitude, t) for p, t in zip(points, times)], counted, start)
    for point, fix in zip(points, counted):
        close("tcx distance of a point", point.distance, fix["distanceMeters"], absolute=0.006)
    if len(exercise.laps) != metrics["lapCount"] + 1:
        fail(f"tcx: {len(exercise.laps)} laps instead of {metrics['lapCount'] + 1}")
    close("tcx distance", exercise.distance, metrics["distanceMeters"], absolute=1)
    close("tcx time", exercise.duration, metrics["elapsedSeconds"], absolute=1.5)
    if metrics["averageHeartRateBpm"] is not None:
        # The mean is by point instead of by time, with a heart rate every ten seconds.
        close("tcx heart rate", exercise.hr_avg, metrics["averageHeartRateBpm"], share=0.03)
        close("tcx highest heart rate", exercise.hr_max, metrics["maxHeartRateBpm"], share=0.05)


for folder in sys.argv[1:]:
    with open(f"{folder}/run.json", encoding="utf-8") as file:
        record = json.load(file)
    counted = [point for point in record["route"] if point["counted"]]
    check_gpx(f"{folder}/run.gpx", record, counted)
    check_tcx(f"{folder}/run.tcx", record, counted)
