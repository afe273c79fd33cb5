"""One number for one run: shell, lock screen, page and HTML file show the same distance, pace and clock of a recording."""

import json
import re
from pathlib import Path

import pytest
from test_page import ROOT, Bus, Page, bus  # noqa: F401 (a fixture)

SHARED = ROOT.parent / "shared" / "runs"
RECORDINGS = sorted([*SHARED.glob("*.tcx"), *SHARED.glob("*.gpx")])


def odd_run(path):
    """A recording whose numbers have much behind the last digit that is shown: 3.7 m a second for 1,129 s."""
    points = [
        f'<trkpt lat="{10 + second * 3.7097 / 111_120:.7f}" lon="0"><time>2026-05-10T08:{second // 60:02}:{second % 60:02}Z</time></trkpt>'
        for second in range(0, 1130)
    ]
    path.write_text(f'<gpx version="1.1" creator="test"><trk><trkseg>{"".join(points)}</trkseg></trk></gpx>')
    return path


def shown(text):
    """The distance, the paces and the clocks that a text shows, without the words around them."""
    return (
        re.findall(r"\d+\.\d\d (?:km|mi)\b", text), re.findall(r"\d+:\d\d(?= /(?:km|mi)\b)", text),
        re.findall(r"\b(?:\d+:)?\d+:\d\d\b(?! /)", text))


def shell_values(bus, run, units):
    lines = bus.run("records", "show", run, "--chart", "none", "--units", units).stdout.splitlines()
    table = {line[:16].strip(): line[16:].strip() for line in lines if len(line) > 16}
    return table["distance"], table["average pace"], table["active"], table["elapsed"]


@pytest.mark.parametrize("units", ["metric", "imperial"])
def test_every_recording_shows_the_same_everywhere(bus, browser, units, tmp_path):  # noqa: F811
    bus.start()
    files = [odd_run(tmp_path / "odd.gpx"), *RECORDINGS]
    for file in files:
        assert bus.run("records", "import", str(file)).returncode == 0, file
    records = [json.loads(line) for line in bus.run("records", "--json").stdout.splitlines()]
    assert len(records) == len(files)
    bests = bus.run("records", "stats", "--bests", "--json")
    language = {"locale": "en-GB"}
    with Page(browser, bus.link, **language) as page:
        page.evaluate(f"localStorage.setItem('runbus-units', '{'mi' if units == 'imperial' else 'km'}')")
        for record in records:
            run = record["runId"]
            distance, pace, active, elapsed = shell_values(bus, run, units)
            html = tmp_path / f"{run}.html"
            assert bus.run("records", "show", run, "--html", str(html)).returncode == 0
            for address in [f"http://127.0.0.1:{bus.port}/#/records/{run}", f"file://{html}"]:
                page.goto("about:blank")
                page.goto(address)
                if address.startswith("file"):
                    page.evaluate(f"localStorage.setItem('runbus-units', '{'mi' if units == 'imperial' else 'km'}')")
                    page.reload()
                numbers = page.locator("dl.numbers").first
                numbers.wait_for()
                text = page.locator("main").inner_text()
                for value in (distance, pace, active, elapsed):
                    assert value in text, f"{record['title']} {address}: {value} is not in {text[:600]}"
        # A list has the same digits, and so have the bests.
        page.goto("about:blank")
        page.goto(f"http://127.0.0.1:{bus.port}/#/records")
        page.locator("table.records tbody tr").nth(len(records) - 1).wait_for()
        listed = page.locator("table.records").inner_text()
        for record in records:
            distance, pace, active, _ = shell_values(bus, record["runId"], units)
            assert distance in listed and pace in listed and active in listed
        page.goto(f"http://127.0.0.1:{bus.port}/#/stats")
        page.get_by_role("heading", name="Bests").first.wait_for()
        main = page.locator("main").inner_text()
        for best in map(json.loads, bests.stdout.splitlines()):
            if not best["longest"]:
                seconds = int(best["activeSeconds"] + 1e-6)
                assert f"{seconds // 60}:{seconds % 60:02}" in main


@pytest.mark.parametrize("file", ["odd", *[path.name for path in RECORDINGS if "intervals" in path.name]])
def test_a_finished_run_is_the_same_on_lock_screen_and_page(bus, browser, file, tmp_path):  # noqa: F811
    path = odd_run(tmp_path / "odd.gpx") if file == "odd" else SHARED / file
    bus.start("--replay", str(path), "--speed", "400")
    widget = bus.spawn("widget", "--device", "lock")
    lines = []
    import threading
    threading.Thread(target=lambda: lines.extend(line for line in widget.stdout), daemon=True).start()
    with Page(browser, bus.link) as page:
        assert bus.send("start").returncode == 0
        bus.until(lambda: bus.state()["metrics"]["distanceMeters"], "a distance")
        page.wait_for_timeout(1500)
        assert bus.send("stop").returncode == 0
        bus.until(lambda: any("lock screen: completed" in line for line in lines), "the last push")
        bus.until(lambda: bus.run("records", "--json").stdout, "the record")
        run = json.loads(bus.run("records", "--json").stdout.splitlines()[-1])["runId"]

        # Readings and presses that came late change the run once more: a new version of the record follows soon.
        def is_one():
            last = [line for line in lines if "lock screen: completed" in line][-1]
            return all(value in last for value in shell_values(bus, run, "metric")[:3])

        bus.until(is_one, "the lock screen has the numbers of the record")
        distance, pace, active, elapsed = shell_values(bus, run, "metric")
        for region in (page.locator(".card").first, page.locator(".now").first):
            bus.until(lambda: distance in region.inner_text(), f"{distance} in {region.inner_text()}")
            text = region.inner_text()
            assert active in text or elapsed in text, text
            assert pace in text, text
