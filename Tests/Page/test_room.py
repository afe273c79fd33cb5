"""Tests of the panel of a room: on views that a test makes up, and with real phones that run together."""


import json
import re

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

from test_drawing import Stage, view_of
from test_page import Page, bus  # noqa: F401 (a fixture)

ROOM = "32d9626b" + "0" * 24


def member(number, nickname, **changes):
    return {
        "id": f"{number:064x}", "nickname": nickname, "level": number, "you": number == 2, "owner": number == 1, "ready": False,
        "here": False, "standing": None, "finish": None,
    } | changes


def standing(place, meters, behind=None, age=1.0, **changes):
    return {
        "place": place, "distanceMeters": meters, "behindMeters": behind, "paceSecondsPerKilometer": 312, "phase": "running",
        "ageSeconds": age, "stale": False,
    } | changes


def finish(place, meters, outcome=None, confirmed=True):
    return {"place": place, "distanceMeters": meters, "confirmed": confirmed, "outcome": outcome}


def room_of(stage, members=None, **changes):
    return {
        "term": 1, "number": 1, "room": ROOM, "stage": stage, "goalSeconds": 1800, "places": 4, "matched": False, "start": None,
        "toStartMeters": None, "gate": None, "startsInSeconds": None, "settled": None, "provisional": False, "lost": False,
        "members": members or [member(1, "Anna", ready=True), member(2, "Ben"), member(3, "mira")],
    } | changes


def rows(page):
    return [[cell.inner_text() for cell in row.locator("th, td").all() if cell.is_visible()] for row in page.locator(".room tbody tr").all()]


def test_without_a_room_there_is_no_panel(browser):
    with Stage(browser) as stage:
        stage.open(view_of())
        expect(stage.page.locator(".now")).to_be_visible()
        expect(stage.page.locator(".room")).to_be_hidden()
        stage.tell(view_of(room=room_of("recruiting")))
        expect(stage.page.get_by_role("region", name="Room")).to_be_visible()
        stage.tell(view_of())
        expect(stage.page.locator(".room")).to_be_hidden()


def test_the_gate_says_who_is_missing_and_how_far_the_runner_is_away(browser):
    with Stage(browser) as stage:
        stage.open(view_of("idle", room=room_of("recruiting", gate="notReady", start="Olympic Park")))
        panel = stage.page.locator(".room")
        expect(panel.locator(".room-stage")).to_have_text("Waiting for runners")
        expect(panel.locator(".room-facts")).to_have_text("Goal 30:00 · 3 of 4 runners · Start: Olympic Park")
        expect(panel.locator(".room-gate")).to_have_text("Waits for you, mira (not ready)")
        expect(panel.get_by_role("table", name="3 of 4 runners")).to_be_visible()
        assert rows(stage.page) == [["Anna · owner", "ready", "1"], ["Ben · you", "not ready", "2"], ["mira", "not ready", "3"]]
        stage.tell(view_of("idle", room=room_of("gathering", gate="notHere", toStartMeters=340)))
        expect(panel.locator(".room-gate")).to_have_text("Waits for Anna, you, mira (not at the start) · you are 340 m from the start")
        stage.tell(view_of("idle", room=room_of("recruiting", gate="open")))
        expect(panel.locator(".room-gate")).to_have_text("All is ready: the owner goes on")
        stage.tell(view_of("idle", room=room_of("recruiting", [member(2, "Ben", owner=True)], gate="tooFew", lost=True, provisional=True)))
        expect(panel.locator(".room-gate")).to_have_text("Waits for another runner")
        expect(panel.locator(".room-doubt")).to_have_text("The log has lost this room · By the clock: the log does not say so yet")


def test_the_countdown_counts_by_itself_and_is_said_once(browser):
    with Stage(browser) as stage:
        stage.stop_time()
        stage.open(view_of("idle", room=room_of("recruiting", gate="open")))
        line, said = stage.page.locator(".room-stage"), stage.page.locator("#told")
        # Everything that is said, also what stands there for a moment only.
        stage.page.evaluate(
            """() => { window.said = []; new MutationObserver(() => { const text = told.textContent; if (text) said.push(text); })
            .observe(document.getElementById("told"), { childList: true, characterData: true, subtree: true }); }""")
        live = view_of("running")["live"] | {
            "phase": "idle", "activeSeconds": 0, "clockTicks": False, "changedBy": None, "startsInSeconds": 4.6, "staleInSeconds": 64.6,
        }
        stage.tell(view_of("idle", room=room_of("countdown", startsInSeconds=4.6), live=live))
        expect(line).to_have_text("Starts in 5 s")
        expect(stage.page.locator(".card .phase")).to_have_text("Countdown")
        expect(stage.page.locator(".card .press")).to_have_count(0)
        for passed, seconds in [(700, 4), (1000, 3), (1000, 2), (1000, 1)]:
            stage.page.clock.run_for(passed)
            expect(line).to_have_text(f"Starts in {seconds} s")
            expect(stage.page.locator(".card .timer")).to_have_text(f"0:0{seconds}")
        stage.page.clock.run_for(1000)
        expect(line).to_have_text("Starts now")
        assert stage.page.evaluate("said") == ["Starts in 5 s"]
        # A countdown that is held is said, and one that begins anew.
        stage.tell(view_of("idle", room=room_of("recruiting", gate="notReady")))
        expect(said).to_have_text("The countdown was held: nobody is ready")
        stage.tell(view_of("idle", room=room_of("countdown", startsInSeconds=5)))
        expect(said).to_have_text("Starts in 5 s")
        stage.tell(view_of("running", room=room_of("running"), cue={"number": 7, "room": ROOM, "cue": "started", "nickname": None}))
        expect(said).to_have_text("The run of the room has started")
        stage.tell(view_of("running", room=room_of("running"), cue={"number": 8, "room": ROOM, "cue": "overtaken", "nickname": "mira"}))
        stage.tell(view_of("running", room=room_of("running"), cue={"number": 8, "room": ROOM, "cue": "overtaken", "nickname": "mira"}))
        expect(said).to_have_text("mira is ahead of you now")
        # A cue of a later version has no sentence here.
        stage.tell(view_of("running", room=room_of("running"), cue={"number": 9, "room": ROOM, "cue": "sung", "nickname": None}))
        assert stage.page.evaluate("said").count("mira is ahead of you now") == 1


def test_the_standings_are_in_order_and_say_when_they_are_old(browser):
    members = [
        member(1, "Anna", standing=standing(2, 753.7, 17.5)), member(2, "Ben", standing=standing(1, 771.2)),
        member(3, "mira", standing=standing(3, 700, 53.7, age=8, phase="paused")), member(4, "mira"),
    ]
    with Stage(browser) as stage:
        stage.stop_time()
        view = view_of("running", room=room_of("running", members))
        view["live"] |= {"room": {"place": 2, "count": 4, "behindMeters": 17.5}}
        stage.open(view)
        expect(stage.page.locator(".room-stage")).to_have_text("Running together")
        expect(stage.page.locator(".room caption")).to_have_text("Standings")
        assert rows(stage.page) == [
            ["1", "Ben · you", "0.77 km", "ahead", "5:12 /km", ""], ["2", "Anna · owner", "0.75 km", "18 m", "5:12 /km", ""],
            ["3", "mira (0000)", "0.70 km", "54 m", "5:12 /km", "Paused"], ["–", "mira (0000)", "–", "–", "–", "not heard yet"],
        ]
        expect(stage.page.locator(".card .note")).to_have_text("2 of 4 · 18 m behind")
        own = stage.page.locator(".room .own th")
        own.evaluate("(node) => { window.kept = node }")
        stage.page.clock.run_for(1500)
        assert rows(stage.page)[2][-1] == "heard 9 s ago"
        # What stays is not drawn anew: a selection in it stays.
        assert own.evaluate("(node) => node === window.kept")
        lost = view_of("running", room=room_of("running", members), stale=True) | {"link": {"reachable": False, "roundTripSeconds": None, "refusal": None}}
        stage.tell(lost)
        expect(stage.page.locator(".room-doubt")).to_have_text("As it was when the phone was last heard")


def test_the_result_names_the_outcome_and_what_it_rests_on(browser):
    members = [member(1, "Anna", finish=finish(2, 753.7, "lost")), member(2, "Ben", finish=finish(1, 771.24, "won")), member(3, "mira", finish=finish(3, 700, None, False))]
    with Stage(browser) as stage:
        stage.open(view_of("completed", room=room_of("settling", members, settled="provisional")))
        line = stage.page.locator(".room-stage")
        expect(line).to_have_text("Result so far: records are missing")
        assert rows(stage.page) == [["1", "Ben · you", "771.2 m", "won"], ["2", "Anna · owner", "753.7 m", "lost"], ["3", "mira", "700.0 m (unconfirmed)", "–"]]
        for settled, words in [("complete", "Result: all records are in"), ("final", "Final result")]:
            stage.tell(view_of("completed", room=room_of("over", members, settled=settled)))
            expect(line).to_have_text(words)


@pytest.mark.parametrize("locale, scheme, width", [("en-US", "light", 1280), ("ko-KR", "dark", 360), ("en-US", "dark", 360), ("ko-KR", "light", 1280)])
def test_no_stage_has_a_flaw_that_axe_finds(browser, locale, scheme, width):
    long = "여덟글자이름입니다" * 2
    running = [member(1, long, standing=standing(1, 12_345.6)), member(2, "Ben", standing=standing(2, 12_000, 345.6)), member(3, "W" * 24, standing=standing(3, 900, 11_100, age=700, stale=True))]
    ended = [one | {"standing": None, "finish": finish(index + 1, 900 - index, "won" if index == 0 else "lost", index < 2)} for index, one in enumerate(running)]
    stages = [
        room_of("recruiting", gate="notReady", start="올림픽공원 평화의 문"), room_of("gathering", gate="notHere", toStartMeters=340), room_of("countdown", startsInSeconds=40),
        room_of("running", running), room_of("over", ended, settled="final"), room_of("cancelled", [member(1, "Anna")]), room_of("ascending"),
    ]
    with Stage(browser, locale=locale, color_scheme=scheme, viewport={"width": width, "height": 844}) as stage:
        stage.open(view_of())
        for room in stages:
            stage.tell(view_of(room=room))
            expect(stage.page.locator(f".room[data-stage='{room['stage']}']")).to_be_visible()
            flaws = Axe().run(stage.page).response["violations"]
            assert [(flaw["id"], flaw["nodes"][0]["target"]) for flaw in flaws] == [], (locale, scheme, room["stage"])
            assert stage.page.evaluate("document.documentElement.scrollWidth <= innerWidth"), (width, room["stage"])


def test_two_phones_run_together_and_the_page_shows_it_from_the_gate_to_the_result(bus, browser):  # noqa: F811
    speed = ["--speed", "30"]
    bus.start("--together", "club", "--nick", "Anna", "--synthetic", *speed)
    bus.drain(bus.spawn("phone", "--json", "--bus", "other", "--together", "club", "--nick", "Ben", "--synthetic", "--seed", "2", *speed))
    bus.until(lambda: bus.run("state", "--bus", "other").returncode == 0, "the other phone answers")

    def ask(*arguments):
        done = bus.run("room", *arguments, "--json")
        assert done.returncode == 0, (arguments, done)
        return json.loads(done.stdout)

    with Page(browser, bus.link) as page:
        panel, line = page.locator(".room"), page.locator(".room-stage")
        expect(page.locator(".card")).to_be_visible()
        expect(panel).to_be_hidden()
        room = ask("open", "--goal", "5m", *speed)["room"]
        expect(panel.locator(".room-gate")).to_have_text("Waits for another runner")
        ask("enter", room[:8], "--bus", "other")
        ask("ready")
        expect(panel.locator(".room-gate")).to_have_text("Waits for Ben (not ready)")
        ask("ready", "--bus", "other")
        expect(panel.locator(".room-gate")).to_have_text("All is ready: you can go on")
        ask("begin")
        expect(line).to_contain_text("Starts in ")
        expect(page.locator(".card .phase")).to_have_text("Countdown")
        expect(line).to_have_text("Running together")
        expect(page.locator(".card .phase")).to_contain_text("Running")
        expect(page.locator("#told")).to_contain_text("The run of the room has started")
        # A lead is seen once both have told how far they are.
        expect(panel.locator("td.column-behind").nth(1)).to_have_text(re.compile(r"\d+ m"))
        expect(line).to_have_text("Result: all records are in")
        assert sorted(row[-1] for row in rows(page)) == ["lost", "won"]
        own = panel.locator("tr.own td").first.inner_text()
        expect(page.locator(".card .note")).to_have_text(f"{own} of 2")
