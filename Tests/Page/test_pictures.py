"""Tests of the pictures of a run: round axes, averages over the charts, the route with its direction and its pace, bars of splits."""

import math
import re

from playwright.sync_api import expect

from test_drawing import Stage, record_of, series_of, statistics_of, view_of

RUN = "1" * 32


def is_round(step):
    """Whether a step is 1, 2 or 5 times a power of ten."""
    return any(math.isclose(step / 10 ** math.floor(math.log10(step) + 1e-9), many) for many in (1, 2, 5, 10))


ROUND_SECONDS = {1, 2, 5, 10, 15, 20, 30, 60, 120, 300, 600, 900, 1200, 1800, 3600, 7200, 10_800, 21_600, 43_200, 86_400}


def test_axes_have_round_steps_and_hold_their_values(browser):
    spans = [(68, 184), (100, 106), (-8, 12), (0.4, 0.5), (1998, 4002), (220, 515), (355, 375), (180, 2300), (-431.2, -2.5), (99.99, 8848)]
    lengths = [59, 150, 299, 1129.6, 3600, 4369, 5127, 36_000, 180_000, 786.25, 12_465, 42_195]
    with Stage(browser) as stage:
        stage.open()
        axes = stage.page.evaluate(
            """async ([spans, lengths]) => {
              const { placeLines, valueAxis } = await import("./axes.js");
              const scales = [1, 1.609344, 1 / 0.3048, 1 / 1609.344];
              const up = spans.flatMap(([low, high]) => scales.flatMap((scale) => [false, true].map((isTime) => [low, high, scale, isTime, valueAxis(low, high, scale, isTime, 6)])));
              const across = lengths.flatMap((length) => scales.flatMap((scale) => [false, true].map((isTime) => [length, scale, isTime, placeLines(length, scale, isTime, 6)])));
              return [up, across];
            }""", [spans, lengths])
    for low, high, scale, is_time, axis in axes[0]:
        steps = [(b - a) * scale for a, b in zip(axis["lines"], axis["lines"][1:])]
        assert axis["low"] <= low + 1e-6 and axis["high"] >= high - 1e-6, (low, high, scale, axis)
        assert 1 <= len(steps) <= 6 and max(steps) - min(steps) < 1e-6 * max(1, steps[0]), (low, high, scale, axis)
        if is_time:
            assert round(steps[0], 6) in ROUND_SECONDS and steps[0] >= 5 - 1e-9, (low, high, scale, axis)
        else:
            assert is_round(steps[0]), (low, high, scale, axis)
        # Lines lie on multiples of the step.
        assert all(math.isclose(line * scale / steps[0], round(line * scale / steps[0]), abs_tol=1e-6) for line in axis["lines"])
    for length, scale, is_time, lines in axes[1]:
        if is_time and length * scale < 30:
            continue
        steps = [(b - a) * scale for a, b in zip(lines, lines[1:])]
        assert lines[0] == 0 and lines[-1] <= length + 1e-6 and 2 <= len(lines) <= 7, (length, scale, lines)
        if is_time:
            assert (round(steps[0], 6) in ROUND_SECONDS or is_round(steps[0] / 86_400)) and (length * scale < 180 or steps[0] > 59.9), (length, scale, lines)
        else:
            assert is_round(steps[0]), (length, scale, lines)


def labels(page, chart):
    return page.locator(f".chart.{chart} .ticks span").all_inner_texts()


def test_a_run_has_round_numbers_beside_its_charts(browser):
    samples = [{"distanceMeters": second * 2.8, "paceSecondsPerKilometer": 322 + second % 90, "altitudeMeters": 117 + second % 45, "heartRateBpm": 131 + second % 37,
                "cadenceStepsPerMinute": 170} for second in range(0, 1130, 10)]
    wanted = {
        "km": {"pace": ["5:15 /km", "5:30", "5:45", "6:00", "6:15", "6:30", "6:45"], "elevation": ["110", "120", "130", "140", "150", "160 m"], "heartRate": ["130", "140", "150", "160", "170 bpm"]},
        "mi": {"pace": ["8:30 /mi", "9:00", "9:30", "10:00", "10:30", "11:00"], "elevation": ["350", "400", "450", "500", "550 ft"], "heartRate": ["130", "140", "150", "160", "170 bpm"]},
    }
    for units, texts in wanted.items():
        with Stage(browser) as stage:
            stage.page.add_init_script(f"localStorage.setItem('runbus-units', '{units}')")
            stage.answers[f"records/{RUN}"] = record_of(series={"intervalSeconds": 10, "samples": samples})
            stage.open(hash=f"#/records/{RUN}")
            expect(stage.page.locator(".chart.pace .ticks span").first).to_be_visible()
            for chart, own in texts.items():
                assert labels(stage.page, chart) == own, (units, chart)
            assert stage.page.locator(".axis span").all_inner_texts() == ["0:00", "5:00", "10:00", "15:00"]
            # Labels of one axis lie apart.
            for width in (380, 1280):
                stage.page.set_viewport_size({"width": width, "height": 900})
                for box in (".chart.pace .ticks", ".chart.elevation .ticks", ".axis"):
                    boxes = [one.bounding_box() for one in stage.page.locator(f"{box} span:visible").all()]
                    for one, other in zip(boxes, boxes[1:]):
                        assert one["y"] + one["height"] <= other["y"] + 1 or other["y"] + other["height"] <= one["y"] + 1 or one["x"] + one["width"] <= other["x"], (units, width, box)


def headings(page):
    return [page.locator(f".chart.{chart} .value").inner_text() for chart in ("pace", "heartRate", "elevation")]


def test_charts_are_headed_by_averages_until_a_place_is_chosen(browser):
    with Stage(browser) as stage:
        record = record_of()
        for index, sample in enumerate(record["series"]["samples"]):
            sample["altitudeMeters"] = 100 + 10 * (index % 3)
        stage.answers[f"records/{RUN}"] = record
        stage.open(hash=f"#/records/{RUN}")
        page, slider, readout = stage.page, stage.page.get_by_role("slider"), stage.page.locator(".readout")
        averages = ["Average 5:55 /km", "Average 144 bpm", "Average 110 m · climbed 31 m"]
        expect(readout).to_have_text("The whole run: 18:49 · 3.17 km")
        assert headings(page) == averages
        expect(page.locator(".plot .dot, .plot .cursor:not([hidden])")).to_have_count(0)
        back = page.get_by_role("button", name="All", exact=True)
        expect(back).to_be_hidden()
        # By keys, where the slider is already, too.
        for key, said in (("Home", "0:00 · 0.00 km"), ("End", "18:49 · ")):
            slider.press(key)
            expect(readout).to_contain_text(said)
            assert headings(page)[1].endswith(" bpm") and "Average" not in "".join(headings(page))
            slider.press("Escape")
            expect(readout).to_have_text("The whole run: 18:49 · 3.17 km")
            assert headings(page) == averages
        # By a pointer on a chart.
        page.locator(".chart.heartRate svg").hover()
        expect(readout).to_contain_text("9:2")
        expect(page.locator(".plot .dot")).to_have_count(3)
        page.mouse.move(5, 5)
        back.click()
        assert headings(page) == averages
        # Of a run that is on.
        stage.answers["series"] = {"runId": RUN, "samples": series_of(range(0, 1501, 10)), "pauses": []}
        page.evaluate("() => { location.hash = '#/' }")
        expect(page.locator(".nothing")).to_be_visible()
        page.evaluate("() => stream.open()")
        stage.tell(view_of())
        expect(readout).to_have_text("So far: 25:00 · 3.17 km")
        assert headings(page)[:2] == ["Average 5:55 /km", "Average 144 bpm"]


def loop(count=200, meters=1200.0, turns=1.0):
    """A round, against the clock from its east."""
    points = []
    for index in range(count + 1):
        angle = 2 * math.pi * turns * index / count
        points.append({
            "offsetSeconds": index * 2.0, "latitude": 50 + 0.0017 * math.sin(angle), "longitude": 8 + 0.0026 * math.cos(angle), "distanceMeters": index / count * meters,
            "altitudeMeters": 100, "counted": True, "startsLine": index == 0})
    return points


def paced(count=200, meters=1200.0):
    """Samples that are slow first, fast then."""
    return {"intervalSeconds": 2, "samples": [
        {"distanceMeters": index / count * meters, "paceSecondsPerKilometer": 400 - index, "altitudeMeters": 100, "heartRateBpm": 150, "cadenceStepsPerMinute": 170} for index in range(count + 1)]}


def test_a_route_shows_its_pace_its_direction_and_both_ends(browser):
    with Stage(browser) as stage:
        stage.answers[f"records/{RUN}"] = record_of(elapsed=400, route=loop(), series=paced())
        stage.open(hash=f"#/records/{RUN}")
        page = stage.page
        expect(page.locator(".route")).to_have_attribute("aria-label", "Route of 1.20 km. Its colours show the pace, from 6:40 /km to 3:20 /km")
        # Slow to fast, in order and each once: the pace only rises.
        order = page.locator(".hues path").evaluate_all("(paths) => paths.map((path) => path.getAttribute('class'))")
        assert order == [f"line hue{number}" for number in range(5)]
        expect(page.locator(".map .legend")).to_contain_text("Slow 6:40 /km")
        expect(page.locator(".map .legend")).to_contain_text("3:20 /km fast")
        # Arrows follow the route: each points to where the next one is.
        arrows = page.locator(".arrows path").evaluate_all(
            """(paths) => paths.map((path) => /translate\\(([\\d.-]+) ([\\d.-]+)\\) rotate\\(([\\d.-]+)\\)/.exec(path.getAttribute("transform")).slice(1).map(Number))""")
        assert len(arrows) >= 6
        centre = [sum(one[axis] for one in arrows) / len(arrows) for axis in (0, 1)]
        for x, y, degrees in arrows:
            # Against the clock, with y down: the way is the radius turned by -90 degrees.
            way = math.degrees(math.atan2(-(x - centre[0]), y - centre[1]))
            assert abs((degrees - way + 180) % 360 - 180) < 25, (x, y, degrees, way)
        # Start and end of a loop are at one place and can be told apart.
        begin, end = (page.locator(f".route .{name}").bounding_box() for name in ("begin", "end"))
        assert begin["x"] + begin["width"] <= end["x"] + 4 and abs(begin["y"] - end["y"]) < 4
        expect(page.locator(".map .legend")).to_contain_text("Start")
        expect(page.locator(".map .legend")).to_contain_text("End")
        # No arrow lies under a mark.
        for box in [one.bounding_box() for one in page.locator(".arrows path").all()]:
            for mark in (begin, end):
                assert box["x"] + box["width"] / 2 < mark["x"] or box["x"] + box["width"] / 2 > mark["x"] + mark["width"] or \
                    box["y"] + box["height"] / 2 < mark["y"] or box["y"] + box["height"] / 2 > mark["y"] + mark["height"]
        # Elsewhere each is where it was.
        stage.answers[f"records/{RUN}"] = record_of(elapsed=400, route=loop(turns=0.5), series=paced())
        page.reload()
        expect(page.locator(".route")).to_be_visible()
        begin, end = (page.locator(f".route .{name}").get_attribute("transform") for name in ("begin", "end"))
        x = [float(re.search(r"\(([\d.-]+)", text)[1]) for text in (begin, end)]
        assert x[0] - x[1] > 100
        # Without paces the line has one colour, and no legend of it.
        bare = paced()
        for sample in bare["samples"]:
            sample["paceSecondsPerKilometer"] = None
        stage.answers[f"records/{RUN}"] = record_of(elapsed=400, route=loop(), series=bare)
        page.reload()
        expect(page.locator(".route > .line")).to_be_attached()
        expect(page.locator(".swatches")).to_have_count(0)


def test_a_straight_line_has_the_paces_that_were_run_on_it(browser):
    with Stage(browser) as stage:
        # What thinning leaves of a straight road.
        route = [point | {"latitude": 50 + number * 0.01, "longitude": 8} for number, point in enumerate((loop()[0], loop()[-1]))]
        stage.answers[f"records/{RUN}"] = record_of(elapsed=400, route=route, series=paced())
        stage.open(hash=f"#/records/{RUN}")
        expect(stage.page.locator(".hues path")).to_have_count(5)
        expect(stage.page.locator(".arrows path").first).to_be_attached()


def linear(channel):
    return channel / 12.92 if channel <= 0.04045 else ((channel + 0.055) / 1.055) ** 2.4


def light_of(colour):
    return [linear(int(colour[place:place + 2], 16) / 255) for place in (1, 3, 5)]


def contrast(one, other):
    first, second = sorted(0.2126 * r + 0.7152 * g + 0.0722 * b for r, g, b in (light_of(one), light_of(other)))
    return (second + 0.05) / (first + 0.05)


def lab(light):
    r, g, b = light
    xyz = [(0.4124 * r + 0.3576 * g + 0.1805 * b) / 0.9505, 0.2126 * r + 0.7152 * g + 0.0722 * b, (0.0193 * r + 0.1192 * g + 0.9505 * b) / 1.089]
    x, y, z = (value ** (1 / 3) if value > 0.008856 else 7.787 * value + 16 / 116 for value in (max(0, one) for one in xyz))
    return 116 * y - 16, 500 * (x - y), 200 * (y - z)


# How colours look without red, green or blue cones: Machado, Oliveira and Fernandes (2009), severity 1.
SIGHTS = {
    "all": [[1, 0, 0], [0, 1, 0], [0, 0, 1]],
    "no red": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
    "no green": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]],
    "no blue": [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]],
}


def test_colours_of_pace_are_told_apart_by_everybody_in_both_themes(browser):
    for scheme in ("light", "dark"):
        with Stage(browser, color_scheme=scheme) as stage:
            stage.open()
            names = ["--paper", *(f"--hue{number}" for number in range(5))]
            paper, *hues = stage.page.evaluate("(names) => names.map((name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim())", names)
            assert all(contrast(hue, paper) >= 3 for hue in hues), (scheme, [contrast(hue, paper) for hue in hues])
            for sight, matrix in SIGHTS.items():
                seen = [lab([sum(a * b for a, b in zip(row, light_of(hue))) for row in matrix]) for hue in hues]
                # Brighter the faster, so that the order is seen without any colour.
                assert all(one[0] + 4 < other[0] for one, other in zip(seen, seen[1:])), (scheme, sight, seen)
                assert all(math.dist(one, other) >= 15 for one, other in zip(seen, seen[1:])), (scheme, sight, seen)


def split_of(number, pace, **values):
    return {"number": number, "complete": True, "distanceMeters": 1000, "activeSeconds": pace, "paceSecondsPerKilometer": pace, "averageHeartRateBpm": 150,
            "elevationGainMeters": None, "elevationLossMeters": None} | values


def test_bars_of_splits_begin_at_the_slowest(browser):
    paces = [(300, {}), (330, {}), (315, {}), (1500, {"complete": False, "distanceMeters": 40})]
    report = record_of()["report"] | {"kilometers": [split_of(number + 1, pace, **values) for number, (pace, values) in enumerate(paces)]}
    with Stage(browser) as stage:
        stage.answers[f"records/{RUN}"] = record_of(report=report)
        stage.open(hash=f"#/records/{RUN}")
        bars = stage.page.locator(".splits .bar")
        expect(bars).to_have_count(4)
        assert bars.evaluate_all("(nodes) => nodes.map((node) => node.style.width)") == ["100%", "10%", "55%", "10%"]
        expect(stage.page.get_by_text("The shortest bar is 5:30 /km or slower, the longest 5:00 /km.")).to_be_visible()
        expect(stage.page.locator(".splits .climb")).to_have_count(0)


def test_splits_show_how_much_they_climb_and_fall(browser):
    splits = [split_of(1, 300, elevationGainMeters=12.4, elevationLossMeters=7.6), split_of(2, 310, elevationGainMeters=0.0, elevationLossMeters=3.0), split_of(3, 320)]
    report = record_of()["report"] | {"kilometers": splits, "miles": splits}
    for width in (380, 1280):
        with Stage(browser, viewport={"width": width, "height": 900}) as stage:
            stage.answers[f"records/{RUN}"] = record_of(report=report)
            stage.open(hash=f"#/records/{RUN}")
            expect(stage.page.locator(".splits .climb")).to_have_text(["+12 −8 m", "+0 −3 m", "–"])
            row = stage.page.locator(".splits li").first
            boxes = row.locator("> span").evaluate_all("(nodes) => nodes.map((node) => { const box = node.getBoundingClientRect(); return [box.left, box.top, box.right, box.bottom]; })")
            for index, one in enumerate(boxes):
                for other in boxes[index + 1:]:
                    assert one[2] <= other[0] + 0.5 or other[2] <= one[0] + 0.5 or one[3] <= other[1] + 2 or other[3] <= one[1] + 2, (width, boxes)
            assert stage.page.evaluate("document.documentElement.scrollWidth <= innerWidth"), width
            stage.page.locator("#units").click()
            expect(stage.page.locator(".splits .climb").first).to_have_text("+41 −25 ft")


def test_months_without_runs_are_left_out_of_the_list(browser):
    with Stage(browser) as stage:
        answer = statistics_of("month", 6)
        for index in (1, 2, 4):
            answer["periods"][index] |= {"count": 0, "distanceMeters": None, "activeSeconds": 0, "averagePaceSecondsPerKilometer": None, "elevationGainMeters": None}
        stage.answers["stats"] = answer
        stage.open(hash="#/stats/month")
        expect(stage.page.locator("table.periods tbody tr")).to_have_count(3)
        # The drawing is a time line: an empty month is a gap in it, without a bar.
        expect(stage.page.locator(".bars g")).to_have_count(6)
        expect(stage.page.locator(".bars .bar")).to_have_count(3)
        assert all(re.fullmatch(r"[\d,.]+ km", text) for text in stage.page.locator(".bars .ticks span").all_inner_texts())
