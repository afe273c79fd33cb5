"""Tests of what the page draws, without a bus: the files of `web/` in headless Chromium, and views that a test makes up."""

import json

from playwright.sync_api import expect

from test_page import ROOT, Page, browser  # noqa: F401 (a fixture)

SITE = "http://page.test/"
TYPES = {".html": "text/html", ".css": "text/css", ".js": "text/javascript"}
# Stands in for the stream of views: the test opens it, sends views, and breaks it.
STREAM = """
window.EventSource = class extends EventTarget {
  static CLOSED = 2;
  constructor() { super(); this.readyState = 0; window.stream = this; }
  close() { this.readyState = 2; }
  open() { this.readyState = 1; this.dispatchEvent(new Event("open")); }
  tell(view) { this.dispatchEvent(new MessageEvent("view", { data: JSON.stringify(view) })); }
  lose(isEnded) { this.readyState = isEnded ? 2 : 0; this.dispatchEvent(new Event("error")); }
};
"""


class Stage:
    """A page whose server is the test: `answers` are the bodies of `/api/...`, `presses` what was pressed."""

    def __init__(self, browser, **options):
        self.owner = Page(browser, None, **options)
        self.page = self.owner.page
        self.answers = {
            "route": {"points": []}, "series": {"runId": None, "samples": [], "pauses": []}, "report": None,
            "press": {"receipt": "applied", "commandId": "0" * 32},
        }
        self.presses = []
        # What a request of the stream is told when it is asked why.
        self.refusal = (503, {"error": {"code": "viewers", "message": ""}})
        self.page.add_init_script(STREAM)
        self.page.route(SITE + "**", self.serve)

    def serve(self, route):
        path = route.request.url.removeprefix(SITE).split("?")[0] or "index.html"
        if path == "events":
            return route.fulfill(status=self.refusal[0], json=self.refusal[1])
        if path.startswith("api/"):
            name = path.removeprefix("api/")
            if name == "press":
                self.presses.append(json.loads(route.request.post_data)["command"])
            answer = self.answers[name]
            return route.abort() if answer == "lost" else route.fulfill(json=answer)
        file = ROOT / "web" / path
        return route.fulfill(body=file.read_text(), content_type=TYPES[file.suffix])

    def open(self, view=None, hash=""):
        self.page.goto(SITE + hash)
        expect(self.page.locator("h1").first).to_be_attached()
        if view:
            self.page.evaluate("() => stream.open()")
            self.tell(view)
        return self

    def tell(self, view):
        self.page.evaluate("(view) => stream.tell(view)", view)

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.owner.__exit__(*error)


def view_of(phase="running", **changes):
    """A view as `/events` sends it, of a run of 3,176.93 m in 1,129.62 s."""
    metrics = {
        "elapsedSeconds": 1500.4, "activeSeconds": 1129.62, "distanceMeters": 3176.93,
        "currentPaceSecondsPerKilometer": 341.9 if phase == "running" else None,
        "averagePaceSecondsPerKilometer": 1129.62 / 3.17693, "heartRateBpm": 151, "averageHeartRateBpm": 144,
        "maxHeartRateBpm": 172, "cadenceStepsPerMinute": 170, "averageCadenceStepsPerMinute": 168, "altitudeMeters": 120,
        "elevationGainMeters": 31, "energyJoules": 900_000, "autoPaused": False, "lapCount": 0, "stale": [],
    }
    is_on = phase in ("running", "paused")
    run = None if phase == "idle" else "1" * 32
    view = {
        "live": None if phase == "idle" else {
            "term": 1, "revision": 2, "tick": 3, "runId": run, "phase": phase, "changedBy": "watch", "recovering": False,
            "activeSeconds": 1129.62, "ageSeconds": 0, "clockTicks": phase == "running", "speed": 1, "distanceMeters": 3170,
            "paceSecondsPerKilometer": 341 if phase == "running" else None, "averagePaceSecondsPerKilometer": 355,
            "heartRateBpm": 151, "elevationGainMeters": 31, "lapCount": 0, "pending": [], "stale": False, "hubLost": False,
            "staleInSeconds": 600 if is_on else None, "pushAgeSeconds": 0, "relevance": 50, "final": not is_on,
            "push": {"number": 5, "kind": "numbers", "budgetLeft": 90, "activity": 1},
        },
        "state": {
            "ageSeconds": 0, "term": 1, "revision": 2, "tick": 3, "phase": phase, "runId": run, "recovering": False,
            "clockStopped": False, "changedBy": None, "metrics": metrics,
        },
        "speed": 1, "predicted": phase, "link": {"reachable": True, "roundTripSeconds": 0.002, "refusal": None},
        "stale": False, "hubOffDuty": False, "hubLost": False, "staleForSeconds": None, "devices": [], "commands": [],
        "routeVersion": 1, "reportVersion": 1,
    }
    return view | changes


# MARK: Numbers

# The same table holds for the shell and for lock screens: what is not shown is cut off, never rounded up.
NUMBERS = [
    ("km", "distance", 3176.93, "3.17 km"), ("km", "distance", 3180.0, "3.18 km"), ("km", "distance", 999.999, "0.99 km"),
    ("km", "distance", 0, "0.00 km"), ("km", "distance", 1150, "1.15 km"), ("km", "distance", 42195, "42.19 km"),
    ("mi", "distance", 3176.93, "1.97 mi"), ("mi", "distance", 1609.344, "1.00 mi"), ("mi", "distance", 4.35 * 1609.344, "4.35 mi"),
    ("km", "roundDistance", 3179.9, "3.17 km"), ("km", "roundDistance", 12_990, "12.9 km"), ("km", "roundDistance", 99_999, "99 km"),
    ("km", "roundDistance", 299.9, "299 m"), ("km", "roundDistance", 5000, "5 km"), ("km", "roundDistance", 1150, "1.15 km"),
    ("mi", "roundDistance", 0.05 * 1609.344, "0.05 mi"), ("mi", "roundDistance", 16_000, "9.94 mi"),
    ("km", "clock", 1129.62, "18:49"), ("km", "clock", 59.999_999_9, "1:00"), ("km", "clock", 3599.9, "59:59"), ("km", "clock", -3, "0:00"),
    ("km", "pace", 355.57, "5:55 /km"), ("km", "pace", 355.999_999_9, "5:56 /km"), ("km", "pace", 359.9, "5:59 /km"),
    ("mi", "pace", 355.57, "9:32 /mi"), ("mi", "pace", 300 * 1000 / 1609.344, "5:00 /mi"),
    ("km", "span", 59.9, "59 s"), ("km", "span", 60.0, "1:00"),
]
DIFFERENCES = [
    ("km", "distance", 3176.93, 3181.2, "+0.01 km"), ("km", "distance", 3170, 3179.9, "±0.00 km"), ("km", "clock", 1129.62, 1129.1, "±0:00"),
    ("km", "pace", 300.2, 299.9, "−0:01 /km"), ("mi", "pace", 355.57, 355.6, "±0:00 /mi"), ("km", "height", 10.4, 11.6, "+2 m"),
]


def test_numbers_are_cut_and_never_rounded_up(browser):
    with Stage(browser) as stage:
        stage.open()
        shown = stage.page.evaluate(
            """async ([numbers, differences]) => {
              const format = await import("./format.js");
              const text = (units, make) => { format.choices.units = units; return make(); };
              return [
                numbers.map(([units, name, value]) => text(units, () => format[name](value))),
                differences.map(([units, name, first, second]) => text(units, () => format.difference(first, second, format[name]))),
              ];
            }""", [NUMBERS, DIFFERENCES])
        wrong = [(row, text) for rows, texts in zip((NUMBERS, DIFFERENCES), shown) for row, text in zip(rows, texts) if row[-1] != text]
        assert wrong == []


def record_of(elapsed=1129.62, interval=10, **changes):
    """A record as `/api/records/ID` gives it."""
    metrics = view_of()["state"]["metrics"] | {"elapsedSeconds": elapsed, "activeSeconds": elapsed}
    samples = [
        {"distanceMeters": second * 2.8, "paceSecondsPerKilometer": 355.57, "altitudeMeters": 120 + second % 50, "heartRateBpm": 140 + second % 20,
         "cadenceStepsPerMinute": 170} for second in range(0, int(elapsed) + 1, interval)]
    summary = {
        "runId": "1" * 32, "title": "", "note": "", "deviceId": "watch", "startedAtUnixSeconds": 1_795_000_000, "utcOffsetSeconds": 0, "conflicted": False,
        "elapsedSeconds": elapsed, "activeSeconds": elapsed, "distanceMeters": 3176.93, "averagePaceSecondsPerKilometer": elapsed / 3.17693,
        "averageHeartRateBpm": 144, "elevationGainMeters": 31, "energyJoules": 900_000,
        "bests": [{"distanceMeters": 1000, "activeSeconds": 341.9, "startedAtSeconds": 0}],
    }
    return {
        "summary": summary, "report": {"metrics": metrics, "kilometers": [], "miles": [], "laps": []}, "pauses": [],
        "series": {"intervalSeconds": interval, "samples": samples}, "route": [],
    } | changes


def test_a_record_shows_the_same_numbers_wherever_it_shows_them(browser):
    with Stage(browser) as stage:
        stage.answers["records/" + "1" * 32] = record_of()
        stage.open(hash="#/records/" + "1" * 32)
        main = stage.page.locator("main")
        for text in ("3.17 km", "18:49", "5:55 /km", "5:41 · 5:41 /km"):
            expect(main).to_contain_text(text)
        # The cursor at the right end.
        stage.page.get_by_role("slider").press("End")
        expect(stage.page.locator(".readout")).to_contain_text("18:48 · ")
        expect(main).not_to_contain_text("18:50")
        expect(main).not_to_contain_text("3.18")
