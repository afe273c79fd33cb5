"""Tests of what the page draws, without a bus: the files of `web/` in headless Chromium, and views that a test makes up."""

import json
import re

import pytest
from playwright.sync_api import expect

from test_page import ROOT, Page

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
            "press": {"receipt": "applied", "commandId": "0" * 32}, "owner": {"canChange": True, "formats": ["gpx", "tcx", "json", "csv"]},
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
            if name.startswith("records/") and name not in self.answers:
                return route.fulfill(status=404, json={"error": {"code": "notFound", "message": ""}})
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

    def stop_time(self):
        """The page's clock stands from now on, until the test moves it."""
        self.page.clock.install(time="2026-11-26T06:00:00Z")
        self.page.clock.pause_at("2026-11-26T06:00:01Z")

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
        "ages": {"distanceSeconds": 1, "heartRateSeconds": 1},
    }
    is_on = phase in ("running", "paused")
    run = None if phase == "idle" else "1" * 32
    view = {
        "live": None if phase == "idle" else {
            "term": 1, "revision": 2, "tick": 3, "runId": run, "phase": phase, "changedBy": "watch", "recovering": False,
            "activeSeconds": 1129.62, "ageSeconds": 0, "clockTicks": phase == "running", "speed": 1, "distanceMeters": 3170,
            "paceSecondsPerKilometer": 341 if phase == "running" else None, "averagePaceSecondsPerKilometer": 355,
            "heartRateBpm": 151, "elevationGainMeters": 31, "lapCount": 0, "pending": [], "stale": False, "hubLost": False,
            "staleInSeconds": 600 if is_on else None, "pushAgeSeconds": 0,
        },
        "state": {
            "ageSeconds": 0, "term": 1, "revision": 2, "tick": 3, "phase": phase, "runId": run, "recovering": False,
            "clockStopped": False, "changedBy": None, "metrics": metrics,
        },
        "speed": 1, "predicted": phase, "link": {"reachable": True, "roundTripSeconds": 0.002, "refusal": None},
        "stale": False, "hubOffDuty": False, "hubLost": False, "staleForSeconds": None, "devices": [], "commands": [],
        "routeVersion": 1, "reportVersion": 1, "recordVersion": 0,
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
    # An hour for a kilometre means standing still, whatever the unit.
    ("km", "pace", 3599.9, "59:59 /km"), ("km", "pace", 3600, "–"), ("km", "pace", 4507, "–"), ("km", "pace", -1, "–"),
    ("mi", "pace", 3599.9, "1:36:33 /mi"), ("mi", "pace", 3600, "–"),
    ("km", "height", -0.3, "0 m"), ("km", "distance", -0.3, "0.00 km"),
    ("km", "span", 59.9, "59 s"), ("km", "span", 60.0, "1:00"),
]
DIFFERENCES = [
    ("km", "distance", 3176.93, 3181.2, "+0.01 km"), ("km", "distance", 3170, 3179.9, "±0.00 km"), ("km", "clock", 1129.62, 1129.1, "±0:00"),
    ("km", "pace", 300.2, 299.9, "−0:01 /km"), ("mi", "pace", 355.57, 355.6, "±0:00 /mi"), ("km", "height", 10.4, 11.6, "+2 m"),
    ("km", "pace", 300, 3600, "–"), ("km", "pace", 4507, 300, "–"), ("mi", "pace", 300, 3599, "+1:28:30 /mi"),
]


# Once broken: One finished run was 3.18 km and 18:49 in the shell, 3.17 km and 18:50 on the card, 3.18 km and 18:50
# under "Now", because each screen had a rule of its own for what is behind the last digit.
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


# Once broken: The cursor at the end of a run said a second that the run did not have, because the axis ended at the
# next whole second.
def test_a_record_shows_the_same_numbers_wherever_it_shows_them(browser):
    with Stage(browser) as stage:
        stage.answers["records/" + "1" * 32] = record_of()
        stage.open(hash="#/records/" + "1" * 32)
        main = stage.page.locator("main")
        for text in ("3.17 km", "18:49", "5:55 /km", "5:41 · 5:41 /km"):
            expect(main).to_contain_text(text)
        # The cursor at the right end.
        stage.page.get_by_role("slider").press("End")
        expect(stage.page.locator(".readout")).to_contain_text("18:49 · ")
        expect(main).not_to_contain_text("18:50")
        expect(main).not_to_contain_text("3.18")


REASONS = {
    "idle": ("no run has been started", "시작된 달리기가 없습니다"), "running": ("the run is already on", "이미 달리는 중입니다"),
    "paused": ("the run is paused", "달리기가 일시 정지되어 있습니다"), "completed": ("the run is already completed", "달리기가 이미 완료되었습니다"),
    "later": ("the run's phase does not allow it", "지금 상태에서는 할 수 없습니다"),
}


# Once broken: "Pause was rejected: the run is: Finished", because the name of the phase was put into a sentence that it
# does not fit into.
def test_a_press_that_the_phase_does_not_allow_is_explained_in_a_sentence(browser):
    with Stage(browser) as stage:
        stage.open()
        rows = [("pause", phase, index) for phase in REASONS for index in (0, 1)] + [("start", "paused", 0), ("start", "paused", 1)]
        said = stage.page.evaluate(
            """async (rows) => {
              const format = await import("./format.js");
              return rows.map(([command, illegalPhase, index]) => {
                format.choices.language = ["en", "ko"][index];
                return format.verdictText({ command, receipt: "rejected", reason: "illegal", illegalPhase });
              });
            }""", rows)
        names = (("Pause was rejected", "일시 정지: 거절됨"), ("Start was rejected", "시작: 거절됨"))
        wanted = [f"{names[0][index]}: {REASONS[phase][index]}" for _, phase, index in rows[:-2]]
        wanted += [f"{names[1][0]}: a run is already on, and paused", f"{names[1][1]}: 이미 시작한 달리기가 일시 정지되어 있습니다"]
        assert said == wanted


# MARK: Buttons

PHASES = ["idle", "running", "paused", "completed"]
# The card, the island and the dashboard.
BOXES = [".card .buttons", ".island .buttons", ".now .buttons"]


def command_of(command, receipt, **changes):
    return {
        "deviceId": "web", "at": "2026-11-26T06:00:00Z", "commandId": "2" * 32, "command": command, "source": "page", "receipt": receipt, "reason": None,
    } | changes


def places(page, box):
    """Where the buttons of a box are that can be seen, by command."""
    return page.evaluate(
        """(box) => Object.fromEntries([...document.querySelectorAll(`${box} button`)].map((button) => {
          const { left, top, right, bottom } = button.getBoundingClientRect();
          return [button.dataset.command, [left, top + scrollY, right, bottom + scrollY].map(Math.round)];
        }))""", box)


# Once broken: A tap on Stop ended a run for good, and a second tap at the same place began another one, because one
# press was enough, and Start stood where Stop had been.
def test_stop_takes_two_presses_by_finger_and_by_keys(browser):
    with Stage(browser) as stage:
        stage.stop_time()
        stage.open(view_of())
        stage.page.locator(".island summary").click()
        for box in BOXES:
            stop = stage.page.locator(f"{box} .stop")
            stop.click()
            expect(stop).to_have_text("Press again to stop")
            expect(stage.page.locator("#told")).to_contain_text("Press Stop again within three seconds")
            assert stage.presses == [], "one press ends nothing"
            # The next view changes nothing about that.
            stage.tell(view_of())
            expect(stop).to_have_text("Press again to stop")
            stage.page.clock.run_for(3100)
            expect(stop).to_have_text("Stop")
            expect(stage.page.locator("#told")).to_be_empty()
            stop.click()
            # A tap that bounces, and impatient taps in a row, are one press.
            for _ in range(12):
                stop.click()
                stage.page.clock.run_for(60)
            expect(stop).to_have_text("Press again to stop")
            assert stage.presses == [], "a double tap ends nothing"
            stage.page.clock.run_for(500)
            stop.click()
            expect(stage.page.locator("#told")).to_contain_text("Stop took effect")
            assert stage.presses == ["stop"]
            stage.presses.clear()
            stop.focus()
            for _ in range(5):
                # A key that is held.
                stage.page.keyboard.down("Enter")
                stage.page.clock.run_for(500)
            stage.page.keyboard.up("Enter")
            expect(stop).to_have_text("Press again to stop")
            assert stage.presses == []
            with stage.page.expect_request_finished(lambda request: request.method == "POST"):
                stage.page.keyboard.press("Enter")
            expect(stop).to_have_text("Stop")
            assert stage.presses == ["stop"]
            stage.presses.clear()
            stage.page.clock.run_for(9000)
        stage.page.locator(".now .pause").click()
        expect(stage.page.locator("#told")).to_contain_text("Pause took effect")
        assert stage.presses == ["pause"], "what can be taken back takes one press"


def test_a_press_on_stop_is_forgotten_with_its_button(browser):
    with Stage(browser) as stage:
        stage.stop_time()
        stage.open(view_of())
        stop = stage.page.locator(".now .stop")
        stop.click()
        expect(stop).to_have_text("Press again to stop")
        stage.tell(view_of("completed"))
        expect(stop).to_have_count(0)
        stage.tell(view_of())
        expect(stop).to_have_text("Stop")
        stage.page.clock.run_for(500)
        stop.click()
        expect(stop).to_have_text("Press again to stop")
        assert stage.presses == []


def test_buttons_keep_their_places_in_every_phase_and_state(browser):
    for width in (390, 1280):
        with Stage(browser, locale="ko-KR" if width == 390 else "en-GB", reduced_motion="reduce", viewport={"width": width, "height": 900}) as stage:
            stage.open(view_of())
            stage.page.locator(".island summary").click()
            for box in BOXES:
                seen, frames = {}, set()
                waits = [[], [command_of("stop", "queued"), command_of("pause", "queued")], [command_of("pause", "pending")]]
                for phase in PHASES:
                    for commands in waits:
                        stage.tell(view_of(phase, commands=commands))
                        for command, place in places(stage.page, box).items():
                            assert seen.setdefault(command, place) == place, (width, box, phase, command)
                        frames.add(json.dumps(stage.page.locator(box).bounding_box()))
                assert len(frames) == 1, (width, box, frames)
                others = {command: place for command, place in seen.items() if command != "stop"}
                # Of a phase of a later version nobody knows which of its buttons is the right one.
                stage.tell(view_of("unknown"))
                others |= places(stage.page, box)
                assert others.pop("stop") == seen["stop"]
                left, top, right, bottom = seen["stop"]
                for command, place in others.items():
                    assert place[2] <= left or place[0] >= right or place[3] <= top or place[1] >= bottom, (width, box, command)
                stage.tell(view_of())
                stage.page.locator(f"{box} .stop").click()
                stage.page.locator(f"{box} .stop.armed").wait_for()
                assert places(stage.page, box)["stop"] == seen["stop"], (width, box)
                overflow = stage.page.locator(f"{box} .stop").evaluate("(node) => [node.scrollWidth - node.clientWidth, node.scrollHeight - node.clientHeight]")
                assert max(overflow) <= 0, (width, box, overflow)


# Once broken: A press that waited for the phone looked like one that was being judged, because both were "waits".
def test_a_press_that_waits_is_another_thing_than_one_that_was_sent(browser):
    with Stage(browser) as stage:
        stage.answers["press"] = {"receipt": "queued", "commandId": "2" * 32, "command": "pause"}
        away = {"reachable": False, "roundTripSeconds": None, "refusal": None}
        stage.open(view_of(link=away))
        pause, line, row = stage.page.locator(".now .pause"), stage.page.locator(".line-of-state"), stage.page.locator(".commands li").first
        pause.click()
        expect(stage.page.locator("#told")).to_have_text("Pause waits for the phone")
        stage.tell(view_of(link=away, commands=[command_of("pause", "queued")]))
        for node in (pause, line, row):
            expect(node).to_contain_text("Pause waits for the phone")
        expect(pause).to_have_class("press pause waits")
        stage.tell(view_of(commands=[command_of("pause", "pending")]))
        for node in (line, row):
            expect(node).to_contain_text("Pause waits for its verdict")
        expect(pause).to_have_text("Pause")
        expect(pause).to_have_class("press pause sent")
        stage.tell(view_of("paused", commands=[command_of("pause", "applied")]))
        expect(row).to_contain_text("Pause took effect")
        expect(stage.page.locator("#told")).to_have_text("Pause took effect")
        expect(stage.page.locator("main")).not_to_contain_text("waits")
        # A press of another device whose phone died before its verdict was heard.
        stage.tell(view_of(commands=[command_of("pause", "unheard", deviceId="watch", source="watch")]))
        expect(row).to_contain_text("Pause reached the phone; its verdict was not heard here")
        expect(line).not_to_contain_text("Pause")


# MARK: Who may look

# Once broken: A ninth viewer, and a page that was not let in, showed "No run yet" and a Start button that did nothing,
# because the empty page was drawn before anything was known, and stayed.
def test_a_page_that_cannot_press_has_no_buttons_and_says_why(browser):
    with Stage(browser) as stage:
        stage.open()
        buttons = stage.page.locator(".press:visible")
        expect(stage.page.locator("main")).to_contain_text("Loading")
        expect(buttons).to_have_count(0)
        stage.page.evaluate("() => stream.lose(true)")
        expect(stage.page.locator("main")).to_contain_text("Eight viewers are looking already")
        expect(buttons).to_have_count(0)
        for lie in ("No run yet", "Ready", "No other device", "Now", "Loading"):
            expect(stage.page.locator("main")).not_to_contain_text(lie, use_inner_text=True)
        # Somebody left.
        stage.page.evaluate("() => stream.open()")
        expect(buttons).to_have_count(0)
        stage.tell(view_of())
        expect(stage.page.locator(".now .stop")).to_be_visible()
        expect(stage.page.locator("main")).not_to_contain_text("Eight viewers")
        # What is known stays while the page connects again; nobody would take a press.
        stage.page.evaluate("() => stream.lose(false)")
        expect(stage.page.locator("#banner")).to_contain_text("connecting again")
        expect(stage.page.locator(".card")).to_contain_text("3.17 km")
        expect(buttons).to_have_count(0)
        stage.page.evaluate("() => stream.open()")
        stage.tell(view_of())
        expect(buttons).to_have_count(5)
        stage.refusal = (403, {"error": {"code": "token", "message": ""}})
        stage.page.evaluate("() => stream.lose(true)")
        expect(stage.page.locator("main")).to_contain_text("This page is not let in")
        expect(buttons).to_have_count(0)


def test_a_page_that_the_phone_does_not_let_in_has_no_buttons(browser):
    with Stage(browser) as stage:
        link = {"reachable": False, "roundTripSeconds": None, "refusal": "its key is not known"}
        stage.open(view_of("idle", link=link))
        # Nothing is known of a run, so nothing is said of one.
        expect(stage.page.locator("main")).to_have_text(re.compile("^\\s*Run\\s*The phone does not let this page in: its key is not known\\s*$"), use_inner_text=True)
        # What was known before stays.
        stage.tell(view_of(link=link))
        expect(stage.page.locator(".line-of-state")).to_contain_text("The phone does not let this page in: its key is not known")
        expect(stage.page.locator(".card")).to_contain_text("3.17 km")
        expect(stage.page.locator(".press:visible")).to_have_count(0)
        expect(stage.page.locator(".now")).not_to_contain_text("Controls", use_inner_text=True)


# MARK: Now

# Once broken: Elapsed time stood large under "Now", active time, current pace and heart rate nowhere, because the panel
# was a summary of the run.
def test_now_has_the_present_numbers_and_names_them(browser):
    with Stage(browser) as stage:
        stage.stop_time()
        stage.open(view_of())
        numbers = lambda: dict(stage.page.evaluate("() => [...document.querySelectorAll('.now .metric')].map((node) => [...node.children].map((one) => one.textContent))"))
        shown = {
            "Active time": "18:49", "Distance": "3.17 km", "Current pace": "5:41 /km", "Current heart rate": "151 bpm", "Elapsed": "25:00",
            "Average pace": "5:55 /km", "Average heart rate": "144 bpm", "Highest heart rate": "172 bpm", "Cadence": "168 spm", "Climbed": "31 m",
            "Energy": "215 kcal", "Laps": "0",
        }
        assert numbers() == shown
        assert stage.page.locator(".now .metric.big dt").all_inner_texts() == ["Active time", "Distance", "Current pace", "Current heart rate"]
        stage.page.clock.run_for(10_000)
        assert numbers() == shown | {"Active time": "18:59", "Elapsed": "25:10"}
        # What was measured half a minute ago is not current any more.
        stage.page.clock.run_for(25_000)
        assert numbers() == shown | {"Active time": "19:24", "Elapsed": "25:35", "Current pace": "–", "Current heart rate": "–"}
        stage.tell(view_of("paused"))
        stage.page.clock.run_for(10_000)
        assert numbers() == shown | {"Elapsed": "25:10", "Current pace": "–"}
        expect(stage.page.locator(".stage")).not_to_contain_text("ush")


# Once broken: "A replay: 20 times as fast" stood under a finished run that had another speed, because the speed is that
# of the phone now, and was shown whatever the run's phase.
def test_a_replay_is_named_while_its_run_is_on(browser):
    with Stage(browser) as stage:
        stage.open(view_of(speed=20))
        replay = stage.page.locator(".replay")
        expect(replay).to_have_text("A replay: 20 times as fast")
        stage.tell(view_of("paused", speed=20))
        expect(replay).to_be_visible()
        # The phone was started anew at another speed than that of its last run; or nobody knows its speed.
        away = {"reachable": False, "roundTripSeconds": None, "refusal": None}
        for view in (view_of("completed", speed=20), view_of("idle", speed=20), view_of(speed=20, link=away), view_of()):
            stage.tell(view_of(speed=20))
            expect(replay).to_be_visible()
            stage.tell(view)
            expect(replay).to_be_hidden()


# MARK: Statistics

def statistics_of(unit, count):
    names = {
        "week": lambda index: f"{2025 + index // 52}-W{index % 52 + 1:02}", "month": lambda index: f"{2024 + index // 12}-{index % 12 + 1:02}",
        "year": lambda index: str(2000 + index),
    }[unit]
    periods = [
        {"period": names(index), "count": 3, "distanceMeters": 12_345.6 * (1 + index % 9) ** (3 if unit == "year" else 2), "activeSeconds": 4500.0 * (1 + index % 9),
         "averagePaceSecondsPerKilometer": 364.5, "elevationGainMeters": 1234} for index in range(count)]
    best = {"runId": "1" * 32, "startedAtUnixSeconds": 1_795_000_000}
    return {
        "periods": periods, "longest": best | {"distanceMeters": 42_195, "activeSeconds": 15_000},
        "bests": [best | {"distanceMeters": meters, "activeSeconds": meters * 0.35} for meters in (1000, 5000, 10000, 21097.5, 42195)],
        "trend": {"periods": 4, "distanceMetersPerPeriod": 20_000, "distanceMetersPerPeriodBefore": 15_000},
    }


def flaws_of_labels(page, box):
    """The texts of a box that lie over one another, or that its panel or the screen cuts off."""
    return page.evaluate(
        """(box) => {
          const panel = document.querySelector(box).closest(".panel").getBoundingClientRect();
          const labels = [...document.querySelectorAll(`${box} span`)].filter((node) => node.textContent && node.getClientRects().length && !node.children.length)
            .map((node) => { const range = document.createRange(); range.selectNodeContents(node); return [node.textContent, range.getBoundingClientRect()]; });
          const flaws = labels.filter(([, at]) => at.left < panel.left + 1 || at.right > panel.right - 1 || at.bottom > panel.bottom || at.right > innerWidth).map(([text]) => `${text} is cut off`);
          labels.forEach(([text, at], index) => {
            for (const [other, place] of labels.slice(index + 1)) {
              if (at.left < place.right + 2 && place.left < at.right + 2 && at.top < place.bottom && place.top < at.bottom) flaws.push(`${text} is over ${other}`);
            }
          });
          return flaws;
        }""", box)


# Once broken: Names of weeks and months lay over one another on a phone, because every eighth bar had a name, however
# wide the drawing was.
def test_labels_of_statistics_are_whole_and_apart(browser):
    for locale in ("en-US", "ko-KR"):
        for width in (320, 390, 700, 1280):
            with Stage(browser, locale=locale, viewport={"width": width, "height": 900}) as stage:
                stage.open()
                for unit, counts in {"week": (1, 2, 7, 9, 30, 60), "month": (1, 5, 8, 14, 30), "year": (1, 9, 26)}.items():
                    for count in counts:
                        stage.answers["stats"] = statistics_of(unit, count)
                        stage.page.evaluate("(hash) => { location.hash = '#/'; location.hash = hash; }", f"#/stats/{unit}")
                        # The sentence of the drawing tells the new one from the one before.
                        stage.page.locator(f'.bars svg[aria-label^="{min(count, 53)} "], .bars svg[aria-label*=" {min(count, 53)}개"]').wait_for()
                        stage.page.locator(".names span").first.wait_for()
                        assert flaws_of_labels(stage.page, ".bars") == [], (locale, width, unit, count)
                        assert stage.page.evaluate("document.documentElement.scrollWidth <= innerWidth"), (locale, width, unit, count)


# MARK: Charts

def parts_of(page, chart, kind="line"):
    """The x of the first and last point of each part of a chart's line, of 800."""
    path = page.locator(f".chart.{chart} path.{kind}").get_attribute("d")
    return [[float(part.split("L")[index].split()[0]) for index in (0, -1)] for part in path.split("M")[1:]]


def series_of(offsets, **values):
    return [{"offsetSeconds": second, "distanceMeters": second * 3.0, "paceSecondsPerKilometer": 330 + second % 40, "heartRateBpm": 140 + second % 30,
             "altitudeMeters": 100 + second % 20} | values for second in offsets]


# Once broken: Lines of charts went across minutes without readings, and pauses were not shaded before the run was over,
# because a line broke only at a value that was missing, not at a sample that was; the live page had no pauses.
def test_live_charts_have_the_whole_run_with_its_gaps_and_its_pauses(browser):
    with Stage(browser) as stage:
        # Ten minutes: a pause from 200 to 260 s, no heart rate from 100 to 150 s, and nothing at all from 400 to 460 s.
        samples = series_of(range(0, 100, 10)) + series_of(range(100, 150, 10), heartRateBpm=None) + series_of(range(150, 200, 10))
        samples += series_of(range(200, 260, 10), paceSecondsPerKilometer=None) + series_of(range(260, 401, 10)) + series_of(range(460, 601, 10))
        run = "1" * 32
        stage.answers["series"] = {"runId": run, "samples": samples, "pauses": [{"startedAtSeconds": 200, "endedAtSeconds": 260}]}
        view = view_of()
        view["state"]["metrics"]["elapsedSeconds"] = 600
        stage.open(view)
        x = lambda *seconds: [pytest.approx(second / 600 * 800, abs=0.1) for second in seconds]
        expect(stage.page.locator(".chart.heartRate path.line")).to_be_attached()
        assert parts_of(stage.page, "heartRate") == [x(0, 90), x(150, 400), x(460, 600)]
        assert parts_of(stage.page, "pace") == [x(0, 190), x(260, 400), x(460, 600)]
        band = stage.page.locator(".chart.pace rect.band")
        assert [float(band.get_attribute(name)) for name in ("x", "width")] == [*x(200), *x(60)]
        expect(stage.page.get_by_text("Shaded: paused")).to_be_visible()
        # A pause that lasts.
        stage.answers["series"] = {"runId": run, "samples": samples + series_of([620], paceSecondsPerKilometer=None), "pauses": [{"startedAtSeconds": 600, "endedAtSeconds": 620}]}
        paused = view_of("paused", routeVersion=2, reportVersion=2)
        paused["state"]["metrics"]["elapsedSeconds"] = 620
        stage.tell(paused)
        expect(band).to_have_attribute("x", re.compile(r"^774\."))
        assert float(band.get_attribute("x")) + float(band.get_attribute("width")) == pytest.approx(800, abs=0.1)


def test_a_record_breaks_its_lines_at_gaps(browser):
    with Stage(browser) as stage:
        record = record_of(elapsed=600)
        for sample in record["series"]["samples"][20:30]:
            sample["heartRateBpm"] = None
        stage.answers["records/" + "1" * 32] = record
        stage.open(hash="#/records/" + "1" * 32)
        expect(stage.page.locator(".chart.heartRate path.line")).to_be_attached()
        assert len(parts_of(stage.page, "heartRate")) == 2 and len(parts_of(stage.page, "pace")) == 1


# Once broken: A lap without a pace was missing from the page, because laps are drawn as bars of pace, and those without
# one were left out.
def test_laps_without_a_pace_are_listed(browser):
    lap = lambda number, **values: {"number": number, "complete": True, "distanceMeters": 0, "activeSeconds": 30, "paceSecondsPerKilometer": None, "averageHeartRateBpm": None} | values
    report = record_of()["report"] | {"laps": [lap(1), lap(2, paceSecondsPerKilometer=300, averageHeartRateBpm=150), lap(3, paceSecondsPerKilometer=4000)]}
    with Stage(browser) as stage:
        stage.answers["report"] = report
        stage.answers["records/" + "1" * 32] = record_of(report=report)
        for address, view in (("#/", view_of()), ("#/records/" + "1" * 32, None)):
            stage.page.goto("about:blank")
            stage.open(view, hash=address)
            expect(stage.page.locator(".splits li")).to_have_text(["Lap 1––", "Lap 25:00 /km150 bpm", "Lap 3––"])
            # What has no pace has no bar, and is no slowest lap.
            widths = stage.page.locator(".splits .bar").evaluate_all("(nodes) => nodes.map((node) => node.style.width)")
            assert widths == ["0%", "100%", "0%"]
            expect(stage.page.locator("main")).not_to_contain_text("slowest: Lap")
        stage.answers["report"] = report | {"laps": [lap(1)]}
        stage.page.goto("about:blank")
        stage.open(view_of(), hash="#/")
        expect(stage.page.locator(".splits li")).to_have_text(["Lap 1––"])


# Once broken: The page showed a pace of 1:15:07 /km where the shell has none, because only the shell took a pace of an
# hour per kilometre for standing still.
def test_standing_still_is_no_pace_of_a_chart(browser):
    with Stage(browser) as stage:
        record = record_of(elapsed=600)
        for sample in record["series"]["samples"][20:25]:
            sample["paceSecondsPerKilometer"] = 4507
        stage.answers["records/" + "1" * 32] = record
        stage.open(hash="#/records/" + "1" * 32)
        expect(stage.page.locator(".chart.pace figcaption")).to_contain_text("slowest 5:55 /km")
        assert len(parts_of(stage.page, "pace")) == 2


# Once broken: A finished run had other extremes under "Run" than as a record, because the page went on drawing the live
# series, which is coarser and ends with a snapshot.
def test_a_finished_run_is_drawn_from_its_record(browser):
    with Stage(browser) as stage:
        run = "1" * 32
        live = series_of(range(0, 601, 10), heartRateBpm=140)
        live[30]["heartRateBpm"] = 152
        stage.answers["series"] = {"runId": run, "samples": live, "pauses": []}
        caption = stage.page.locator(".chart.heartRate figcaption")
        stage.open(view_of())
        expect(caption).to_contain_text("Highest 152 bpm at 5:00")
        # The run is over; its record comes a little later, and is made anew when late readings come.
        stage.tell(view_of("completed", reportVersion=2))
        for version, pulse in ((1, 154), (2, 161)):
            record = record_of(elapsed=600, interval=1)
            for sample in record["series"]["samples"]:
                sample["heartRateBpm"] = 140
            record["series"]["samples"][303]["heartRateBpm"] = pulse
            record["pauses"] = [{"startedAtSeconds": 100, "endedAtSeconds": 130}]
            record["report"]["laps"] = [{"number": version, "paceSecondsPerKilometer": 300, "averageHeartRateBpm": None}]
            stage.answers[f"records/{run}"] = record
            stage.tell(view_of("completed", reportVersion=2, recordVersion=version))
            expect(caption).to_contain_text(f"Highest {pulse} bpm at 5:03")
            expect(stage.page.locator(".chart.pace rect.band")).to_have_count(1)
            expect(stage.page.locator(".splits li")).to_contain_text([f"Lap {version}"])
        words = stage.page.locator(".charts figcaption").all_inner_texts()
        stage.page.evaluate("(hash) => { location.hash = hash }", f"#/records/{run}")
        expect(stage.page.locator("h1")).to_contain_text("run")
        expect(stage.page.locator(".charts figcaption")).to_have_text(words)
        # The next run is drawn as it comes.
        stage.page.evaluate("() => { location.hash = '#/' }")
        expect(stage.page.locator(".nothing")).to_be_visible()
        stage.tell(view_of(recordVersion=2))
        expect(caption).to_contain_text("Highest 152 bpm at 5:00")


def dot_of(page, chart):
    """Where a chart's dot is in the drawing, `None` when it is hidden."""
    return page.evaluate(
        """(chart) => {
          const dot = document.querySelector(`.chart.${chart} .dot`);
          return !dot || dot.hidden ? null : [parseFloat(dot.style.left) * 8, parseFloat(dot.style.top) * 1.2];
        }""", chart)


def is_on_line(page, chart, at):
    """Whether a place in the drawing is on the line of a chart."""
    return page.evaluate(
        """([chart, [x, y]]) => {
          const parts = document.querySelector(`.chart.${chart} path.line`).getAttribute("d").split("M").slice(1).map((part) => part.split("L").map((text) => text.split(" ").map(Number)));
          return parts.some((points) => points.some(([x1, y1], index) => {
            const [x2, y2] = points[index + 1] || [x1, y1];
            if (x < x1 - 0.2 || x > x2 + 0.2) return false;
            return Math.abs(y - (x2 > x1 ? y1 + (y2 - y1) * (x - x1) / (x2 - x1) : y1)) < 0.5;
          }));
        }""", [chart, at])


# Once broken: The readout at the end of a run had values that no line had there, and its dot was beside the line,
# because the cursor stopped at the last whole second, took the sample before it, and knew nothing of the gaps of lines.
def test_the_readout_at_the_end_agrees_with_the_lines(browser):
    with Stage(browser) as stage:
        run, readout = "1" * 32, stage.page.locator(".readout")
        cases = [
            # The last sample lies behind the last whole second.
            ([*range(0, 601, 10), 603.6], {}, 603.6, "10:03 · 1.81 km · 5:11 /km · 151 bpm · 101 m", 603.6),
            # In a pause there is no pace: its line ends before, and its last value holds for half a minute.
            ([*range(0, 601, 10), 620.4], {"paceSecondsPerKilometer": None}, 620.4, "10:20 · 1.86 km · 5:30 /km · 151 bpm · 101 m", 600),
            ([*range(0, 601, 10), 640.4], {"paceSecondsPerKilometer": None}, 640.4, "10:40 · 1.92 km · – · 151 bpm · 101 m", None),
            # The run went on without a sample.
            ([*range(0, 601, 10)], {}, 625, "10:25 · 1.80 km · 5:30 /km · 140 bpm · 100 m", 600),
            ([*range(0, 601, 10)], {}, 640, "10:40 · 1.80 km · – · – · –", None),
        ]
        stage.open(view_of())
        for number, (offsets, last, elapsed, said, dot_at) in enumerate(cases):
            samples = series_of(offsets)
            if offsets[-1] != 600:
                samples[-1] |= {"paceSecondsPerKilometer": 311, "heartRateBpm": 151, "altitudeMeters": 101} | last
            stage.answers["series"] = {"runId": run, "samples": samples, "pauses": []}
            view = view_of("paused", reportVersion=number + 2)
            view["state"]["metrics"]["elapsedSeconds"] = elapsed
            stage.tell(view)
            if number == 0:
                expect(readout).to_have_text("So far: 10:03 · 3.17 km")
                stage.page.get_by_role("slider").press("End")
            expect(readout).to_have_text(said)
            values = [stage.page.locator(f".chart.{kind} .value").inner_text() for kind in ("pace", "heartRate", "elevation")]
            assert " · ".join(values) == said.split(" · ", 2)[2]
            dot = dot_of(stage.page, "pace")
            assert (dot is None) == (dot_at is None), said
            if dot:
                assert dot[0] == pytest.approx(dot_at / elapsed * 800, abs=0.2)
            for chart in ("pace", "heartRate", "elevation"):
                dot = dot_of(stage.page, chart)
                assert dot is None or is_on_line(stage.page, chart, dot), (said, chart, dot)
        # Anywhere else, too: between two samples, and in a gap.
        stage.answers["series"] = {"runId": run, "samples": series_of([*range(0, 201, 10), *range(300, 401, 10)]), "pauses": []}
        view = view_of("paused", reportVersion=9)
        view["state"]["metrics"]["elapsedSeconds"] = 400
        stage.tell(view)
        expect(readout).to_contain_text("6:40 · ")
        stage.page.get_by_role("slider").fill("107")
        dot = dot_of(stage.page, "pace")
        assert dot[0] == pytest.approx(107 / 400 * 800, abs=0.2) and is_on_line(stage.page, "pace", dot)
        stage.page.get_by_role("slider").fill("250")
        expect(readout).to_have_text("4:10 · 0.60 km · – · – · –")
        assert dot_of(stage.page, "pace") is None
