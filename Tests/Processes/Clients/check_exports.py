"""Reads the exports of one run with parsers that are not ours, and compares them with the run's own JSON."""

import json
import sys

import gpxpy
from tcxreader.tcxreader import TCXReader

folder = sys.argv[1]
with open(f"{folder}/run.json", encoding="utf-8") as file:
    record = json.load(file)
metrics = record["metrics"]
counted = [point for point in record["route"] if point["counts"]]


def close(name, found, expected, share):
    if abs(found - expected) > abs(expected) * share:
        sys.exit(f"{name}: {found} instead of {expected}")


with open(f"{folder}/run.gpx", encoding="utf-8") as file:
    track = gpxpy.parse(file).tracks[0]
points = [point for segment in track.segments for point in segment.points]
if len(points) != len(counted):
    sys.exit(f"gpx: {len(points)} points instead of {len(counted)}")
if record["summary"]["runId"] not in track.link:
    sys.exit("gpx: the run's id is missing")
# A sphere instead of an ellipsoid, and no allowance for curves.
close("gpx distance", track.length_2d(), metrics["distanceMeters"], 0.01)
close("gpx start", points[0].time.timestamp(), record["summary"]["startedAtUnixSeconds"], 1e-8)
if not any(point.extensions for point in points):
    sys.exit("gpx: no heart rate")

exercise = TCXReader().read(f"{folder}/run.tcx", only_gps=False)
if exercise.activity_type != "Running":
    sys.exit(f"tcx: {exercise.activity_type}")
close("tcx distance", exercise.distance, metrics["distanceMeters"], 0.001)
close("tcx time", sum(lap.duration or 0 for lap in exercise.laps), metrics["elapsedSeconds"], 0.02)
if metrics["averageHeartRateBpm"] is not None:
    close("tcx heart rate", exercise.hr_avg, metrics["averageHeartRateBpm"], 0.03)
    close("tcx highest heart rate", exercise.hr_max, metrics["maxHeartRateBpm"], 0.05)
if len([point for point in exercise.trackpoints if point.latitude is not None]) != len(counted):
    sys.exit("tcx: points are missing")
