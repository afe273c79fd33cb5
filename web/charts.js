// Drawings of a run: its route, its charts with one cursor over all of them, its splits, and bars of periods.
import { choices, clock, difference, distance, heartRate, height, isKnown, isPace, pace, periodName, roundDistance, unitMeters, word } from "./format.js";
import { drawing, element, panel, setText } from "./element.js";

const chartWidth = 800;
const chartHeight = 120;

const kinds = [
  { key: "paceSecondsPerKilometer", name: "pace", text: pace, inverted: true, smallest: 20 },
  { key: "heartRateBpm", name: "heartRate", text: heartRate, inverted: false, smallest: 6 },
  { key: "altitudeMeters", name: "elevation", text: height, inverted: false, smallest: 10 },
];

// MARK: Values

/// What a sample has for a chart; `null` where it has nothing that can be drawn.
function valueOf(kind, sample) {
  const value = sample[kind.key];
  return (kind.text === pace ? isPace : isKnown)(value) ? value : null;
}

/// The extremes of a value, outliers of one in fifty cut off at either side for the drawing only. A pace that is much slower
/// than the usual one, as on foot after a pause, is cut off, too: it would press the rest into a line.
function boundsOf(values, smallest, cutsSlow) {
  const known = values.filter(isKnown).sort((a, b) => a - b);
  if (known.length < 2) return null;
  const cut = Math.floor(known.length / 50);
  const low = known[cut];
  const high = cutsSlow ? Math.min(known[known.length - 1 - cut], known[known.length >> 1] * 1.6) : known[known.length - 1 - cut];
  const missing = Math.max(0, smallest - (high - low));
  return { low: low - missing / 2, high: high + missing / 2 };
}

/// The longest time between two samples that a line goes across: readings are current for half a minute, and of a long run there
/// is only one sample in a while.
function gapOf(offsets) {
  const steps = offsets.slice(1).map((offset, index) => offset - offsets[index]).sort((a, b) => a - b);
  return Math.max(30, 3 * (steps[steps.length >> 1] || 0));
}

/// The number of the last sample at or before a place; 0 before the first.
function indexAt(places, at) {
  let [low, high] = [0, places.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (places[middle] <= at) low = middle + 1; else high = middle;
  }
  return Math.max(0, low - 1);
}

/// The number of the sample that a line has at a place; -1 in a gap. Behind its end a line has its last value for a while, because
/// readings are current for a while.
function sampleAt({ places, values, last, gap, reach }, at) {
  const index = Math.min(indexAt(places, at), last);
  const isThere = index >= 0 && isKnown(values[index]) && Math.abs(at - places[index]) <= (index === last ? reach : gap);
  return isThere ? index : -1;
}

/// What a chart shows, in words: its extremes and when they were.
function sentenceOf(kind, samples) {
  const known = samples.filter((sample) => valueOf(kind, sample) !== null);
  if (known.length < 2) return "";
  let [low, high] = [known[0], known[0]];
  for (const sample of known) {
    if (sample[kind.key] < low[kind.key]) low = sample;
    if (sample[kind.key] > high[kind.key]) high = sample;
  }
  return word("words_" + kind.name, {
    low: kind.text(low[kind.key]), lowAt: clock(low.offsetSeconds), high: kind.text(high[kind.key]),
    highAt: clock(high.offsetSeconds),
  });
}

// MARK: One chart

/// A chart of one value with a line for each run. `onMove` is called with a place on its axis when a pointer is over it.
function makeChart(kind, onMove) {
  const value = element("span", { class: "value" });
  const top = element("span", { class: "high", "aria-hidden": "true" });
  const bottom = element("span", { class: "low", "aria-hidden": "true" });
  const cursor = drawing("line", { class: "cursor", y1: 0, y2: chartHeight, x1: 0, x2: 0 });
  const drawn = drawing("g");
  const svg = drawing("svg", { viewBox: `0 0 ${chartWidth} ${chartHeight}`, preserveAspectRatio: "none", role: "img" }, drawn, cursor);
  const dots = element("div", { class: "dots", "aria-hidden": "true" });
  const plot = element("div", { class: "plot" }, top, bottom, svg, dots);
  const caption = element("figcaption");
  const nothing = element("p", { class: "empty" }, word("noChart"));
  const node = element(
    "figure", { class: `chart ${kind.name}` }, element("div", { class: "head" }, element("h3", {}, word(kind.name)), value), plot, nothing, caption);
  let [lines, domain, bounds] = [[], 1, null];

  function move(event) {
    if (event.pointerType === "touch" && event.type === "pointermove" && !event.isPrimary) return;
    const box = svg.getBoundingClientRect();
    onMove(Math.min(1, Math.max(0, (event.clientX - box.left) / box.width)) * domain);
  }
  svg.addEventListener("pointermove", move);
  svg.addEventListener("pointerdown", move);

  const shareOf = (number) => {
    const share = Math.min(1, Math.max(0, (number - bounds.low) / (bounds.high - bounds.low)));
    return 0.04 + 0.92 * (kind.inverted ? share : 1 - share);
  };

  /// The parts of a line between gaps: a value that is missing, or none for a while.
  function pathsOf(line) {
    let [path, area, begin, last] = ["", "", null, null];
    const close = () => { if (begin !== null) area += `L${last} ${chartHeight}L${begin} ${chartHeight}Z`; begin = null; };
    line.values.forEach((number, index) => {
      if (index && line.places[index] - line.places[index - 1] > line.gap) close();
      if (!isKnown(number)) return close();
      const x = (Math.min(1, line.places[index] / domain) * chartWidth).toFixed(1);
      const point = `${begin === null ? "M" : "L"}${x} ${(shareOf(number) * chartHeight).toFixed(1)}`;
      path += point;
      area += point;
      if (begin === null) begin = x;
      last = x;
      return null;
    });
    close();
    return [path, area];
  }

  /// Where the dot of a sample is, at a place of the cursor: on the line, across and down as shares of the drawing.
  function dotOf({ places, values, gap }, index, at) {
    const [from, here] = [places[index], shareOf(values[index])];
    const way = places[index + 1] - from;
    if (!isKnown(values[index + 1]) || !(way > 0) || way > gap) return [from / domain, here];
    const share = Math.min(1, Math.max(0, (at - from) / way));
    return [(from + way * share) / domain, here + (shareOf(values[index + 1]) - here) * share];
  }

  return {
    node,
    /// `runs` are lists of samples with their `places` on the axis and the longest `gap` that a line crosses; `bands` are stretches of the axis that are shaded.
    update(runs, length, bands, sentence) {
      node.hidden = !runs.some((run) => run.samples.length > 1);
      domain = Math.max(1e-9, length);
      lines = runs.map(({ samples, places, gap }) => {
        const values = samples.map((sample) => valueOf(kind, sample));
        // A line without a longest gap is one over distance: it does not go on behind the end of its run.
        return { places, gap, values, last: values.findLastIndex(isKnown), reach: isFinite(gap) ? gap : domain / 50 };
      });
      bounds = boundsOf(lines.flatMap((line) => line.values), kind.smallest, kind.inverted);
      plot.hidden = !bounds;
      nothing.hidden = bounds !== null;
      setText(caption, bounds ? sentence : "");
      if (!bounds) { setText(value, ""); return; }
      svg.setAttribute("aria-label", sentence ? `${word(kind.name)}. ${sentence}` : word(kind.name));
      setText(top, kind.text(kind.inverted ? bounds.low : bounds.high));
      setText(bottom, kind.text(kind.inverted ? bounds.high : bounds.low));
      const shapes = bands.map((band) => drawing("rect", {
        class: "band", x: band.from / domain * chartWidth, width: Math.max(2, (band.to - band.from) / domain * chartWidth), y: 0, height: chartHeight,
      }));
      for (const share of [0.25, 0.5, 0.75]) {
        shapes.push(drawing("line", { class: "grid", x1: share * chartWidth, x2: share * chartWidth, y1: 0, y2: chartHeight }));
      }
      lines.forEach((line, index) => {
        const [path, area] = pathsOf(line);
        if (lines.length === 1) shapes.push(drawing("path", { class: "area", d: area }));
        shapes.push(drawing("path", { class: index ? "line second" : "line", d: path }));
      });
      drawn.replaceChildren(...shapes);
    },
    /// Moves the cursor; returns what the lines have there.
    show(at) {
      const found = lines.map((line) => sampleAt(line, at));
      const numbers = lines.map((line, index) => (found[index] < 0 ? null : line.values[found[index]]));
      if (!bounds) return numbers;
      const x = Math.min(1, at / domain);
      cursor.setAttribute("x1", x * chartWidth);
      cursor.setAttribute("x2", x * chartWidth);
      dots.replaceChildren(...numbers.map((number, index) => {
        const dot = element("span", { class: index ? "dot second" : "dot" });
        dot.hidden = number === null;
        if (!dot.hidden) [dot.style.left, dot.style.top] = dotOf(lines[index], found[index], at).map((share) => `${Math.min(1, share) * 100}%`);
        return dot;
      }));
      const texts = numbers.map((number) => kind.text(number));
      if (numbers.length === 2) texts.push(`(${difference(numbers[0], numbers[1], kind.text)})`);
      setText(value, texts.join("  "));
      return numbers;
    },
  };
}

/// Charts under one cursor: a slider that arrow keys move, a line that says the values, and the charts. `describe` makes that line
/// of a place and of what the first lines of the charts have there.
function makeCharts(label, describe, onShow) {
  const readout = element("p", { class: "readout" });
  const slider = element("input", { type: "range", min: 0, max: 1, step: 1, id: "cursor", "aria-label": label });
  const axis = element("p", { class: "axis", "aria-hidden": "true" });
  let place = null;
  // The very end of one run, which is between two steps. Of two runs the cursor is where both have values.
  let veryEnd = null;
  const charts = kinds.map((kind) => makeChart(kind, (at) => move(at)));
  charts[charts.length - 1].node.querySelector(".plot").after(axis);
  function length() { return Number(slider.max); }
  function move(at) {
    // A place between two steps is the one before: behind the end of a run there are no values.
    slider.value = Math.floor(at / Number(slider.step)) * Number(slider.step);
    // On the last step the cursor follows the run.
    place = Number(slider.value) + Number(slider.step) > length() ? null : Number(slider.value);
    show();
  }
  function show() {
    const at = place === null && veryEnd !== null ? veryEnd : Number(slider.value);
    const text = describe(at, charts.map((chart) => chart.show(at)[0]));
    setText(readout, text);
    slider.setAttribute("aria-valuetext", text);
    slider.style.setProperty("--share", `${length() ? Number(slider.value) / length() * 100 : 0}%`);
    onShow(at);
  }
  slider.addEventListener("input", () => move(Number(slider.value)));
  const slide = element("div", { class: "slide" }, slider);
  const nothing = element("p", { class: "empty" }, word("noChart"));
  return {
    node: element("div", { class: "charts" }, readout, slide, nothing, charts.map((chart) => chart.node)),
    move,
    update(runs, domain, bands, sentences, axisText) {
      const hasValues = runs.some((run) => run.samples.length > 1);
      [readout.hidden, slide.hidden, nothing.hidden] = [!hasValues, !hasValues, hasValues];
      const end = Math.max(1, domain);
      veryEnd = runs.length === 1 ? end : null;
      // The last whole second or metre: a run of 18:49.6 has no 18:50.
      slider.max = Math.floor(end);
      slider.step = Math.max(1, Math.round(end / 500));
      slider.value = place ?? slider.max;
      charts.forEach((chart, index) => chart.update(runs, end, bands, sentences[index]));
      axis.replaceChildren(...[0, 0.25, 0.5, 0.75, 1].map((share) => element("span", {}, axisText(share * end))));
      show();
    },
  };
}

// MARK: The route

/// A position on a map in Mercator's projection, in units of the width of the world.
function project(latitude, longitude) {
  const radians = Math.max(-85, Math.min(85, latitude)) * Math.PI / 180;
  return [(longitude + 180) / 360, (1 - Math.log(Math.tan(radians) + 1 / Math.cos(radians)) / Math.PI) / 2];
}

const mapWidth = 400;
const mapMargin = 26;

/// The route as a line, north up, with marks for each kilometre or mile and one that follows the cursor.
function makeRoute(tiles, onMove) {
  const node = element("div", { class: "map" });
  const mark = drawing("circle", { r: 8, class: "mark" });
  let [places, offsets] = [[], []];
  let svg = null;

  function move(event) {
    if (event.pointerType === "touch" && event.type === "pointermove") return;
    const box = svg.getBoundingClientRect();
    const view = svg.viewBox.baseVal;
    const scale = Math.min(box.width / view.width, box.height / view.height);
    const x = (event.clientX - box.left - (box.width - view.width * scale) / 2) / scale;
    const y = (event.clientY - box.top - (box.height - view.height * scale) / 2) / scale;
    let [best, near] = [0, Infinity];
    for (let index = 1; index < places.length; index += 1) {
      const away = Math.hypot(places[index][0] - x, places[index][1] - y);
      if (away < near) [best, near] = [index, away];
    }
    if (near < 40) onMove(offsets[best]);
  }

  return {
    node,
    update(points) {
      if (points.length < 2) {
        [places, svg] = [[], null];
        node.replaceChildren(element("p", { class: "empty" }, word("noRoute")));
        return;
      }
      const world = points.map((point) => project(point[1], point[2]));
      offsets = points.map((point) => point[0]);
      const xs = world.map((point) => point[0]);
      const ys = world.map((point) => point[1]);
      const bounds = { left: Math.min(...xs), right: Math.max(...xs), top: Math.min(...ys), bottom: Math.max(...ys) };
      const [wide, tall] = [bounds.right - bounds.left, bounds.bottom - bounds.top];
      // Beside the charts the map is as tall as they are; alone it is as tall as the route, within reason. A run on the spot
      // is not blown up to fill it.
      const least = 60 / 40_075_017;
      const isAlone = window.matchMedia("(max-width: 900px)").matches;
      const aspect = isAlone ? Math.min(1.15, Math.max(0.5, Math.max(tall, least) / Math.max(wide, least))) : 1.42;
      const mapHeight = mapMargin * 2 + (mapWidth - mapMargin * 2) * aspect;
      const scale = Math.min((mapWidth - mapMargin * 2) / Math.max(wide, least), (mapHeight - mapMargin * 2) / Math.max(tall, least));
      const middle = [(bounds.left + bounds.right) / 2, (bounds.top + bounds.bottom) / 2];
      places = world.map(([x, y]) => [mapWidth / 2 + (x - middle[0]) * scale, mapHeight / 2 + (y - middle[1]) * scale]);
      const path = places.map(([x, y], index) => `${index && !points[index][5] ? "L" : "M"}${x.toFixed(1)} ${y.toFixed(1)}`).join("");
      const metersPerUnit = 40_075_017 * Math.cos(points[0][1] * Math.PI / 180) / scale;
      const length = points[points.length - 1][3];
      svg = drawing(
        "svg", { viewBox: `0 0 ${mapWidth} ${mapHeight.toFixed(0)}`, class: "route", role: "img", "aria-label": word("routeWords", { distance: distance(length) }) },
        tiles ? drawTiles(tiles, middle, scale, mapHeight) : null,
        drawing("path", { d: path, class: "edge" }), drawing("path", { d: path, class: "line" }), drawUnits(points, places, length),
        drawing("circle", { r: 5, class: "begin", cx: places[0][0], cy: places[0][1] }),
        mark, drawScale(metersPerUnit, mapHeight));
      svg.addEventListener("pointermove", move);
      svg.addEventListener("pointerdown", move);
      node.replaceChildren(svg, tiles ? element("p", { class: "source" }, word("tilesFrom", { host: hostOf(tiles) })) : "");
    },
    show(at) {
      if (!places.length) return;
      const index = indexAt(offsets, at);
      const [from, to] = [places[index], places[index + 1]];
      const share = to ? Math.min(1, Math.max(0, (at - offsets[index]) / Math.max(1e-9, offsets[index + 1] - offsets[index]))) : 0;
      mark.setAttribute("cx", to ? from[0] + (to[0] - from[0]) * share : from[0]);
      mark.setAttribute("cy", to ? from[1] + (to[1] - from[1]) * share : from[1]);
    },
  };
}

function hostOf(template) {
  try { return new URL(template).host; } catch { return template; }
}

/// A dot with a number at each kilometre or mile; fewer of them on a long route.
function drawUnits(points, places, length) {
  const group = drawing("g", { class: "units", "aria-hidden": "true" });
  const step = unitMeters() * [1, 2, 5, 10, 20, 50, 100].find((many) => length / unitMeters() / many <= 14 || many === 100);
  let next = step;
  points.forEach((point, index) => {
    if (!isKnown(point[3]) || point[3] < next) return;
    const [x, y] = places[index];
    const number = Math.floor(point[3] / step) * step;
    next = number + step;
    if (next > 1e7) return;
    group.append(drawing("circle", { r: 7.5, cx: x, cy: y }), drawing("text", { x, y: y + 3.2 }, String(Math.round(number / unitMeters()))));
  });
  return group;
}

/// A bar of a round length at the lower left.
function drawScale(metersPerUnit, mapHeight) {
  const room = metersPerUnit * mapWidth / 3;
  const sizes = (choices.units === "mi" ? [0.05, 0.1, 0.25, 0.5, 1, 2, 5, 10, 20, 50] : [0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50]).map((many) => many * unitMeters());
  const meters = sizes.filter((size) => size <= room).pop() || sizes[0];
  const long = Math.min(mapWidth / 2, meters / metersPerUnit);
  const y = mapHeight - 8;
  return drawing(
    "g", { class: "scale", "aria-hidden": "true" }, drawing("path", { d: `M8 ${y - 4}V${y}H${(8 + long).toFixed(1)}V${y - 4}` }),
    drawing("text", { x: 13, y: y - 5 }, roundDistance(meters)));
}

/// Map tiles below the route, as the owner asked for with --tiles.
function drawTiles(template, middle, scale, mapHeight) {
  // A tile is about as wide on the page as it was drawn.
  const zoom = Math.max(1, Math.min(18, Math.round(Math.log2(scale / 150))));
  const count = 2 ** zoom;
  const size = scale / count;
  const group = drawing("g", { class: "tiles" });
  const [x0, y0] = [middle[0] * count, middle[1] * count];
  const [across, down] = [mapWidth / 2 / size, mapHeight / 2 / size];
  for (let x = Math.floor(x0 - across); x <= x0 + across; x += 1) {
    for (let y = Math.max(0, Math.floor(y0 - down)); y <= Math.min(count - 1, y0 + down); y += 1) {
      const address = template.replace("{z}", zoom).replace("{x}", ((x % count) + count) % count).replace("{y}", y);
      group.append(drawing("image", { href: address, x: mapWidth / 2 + (x - x0) * size, y: mapHeight / 2 + (y - y0) * size, width: size, height: size }));
    }
  }
  return group;
}

// MARK: A run, and two runs

/// The samples of a record with their run time and active time.
export function samplesOf(record) {
  let paused = 0;
  let next = 0;
  const pauses = record.pauses || [];
  return record.series.samples.map((sample, index) => {
    const offsetSeconds = index * record.series.intervalSeconds;
    while (next < pauses.length && pauses[next].endedAtSeconds <= offsetSeconds) {
      paused += pauses[next].endedAtSeconds - pauses[next].startedAtSeconds;
      next += 1;
    }
    const inPause = next < pauses.length && pauses[next].startedAtSeconds < offsetSeconds ? offsetSeconds - pauses[next].startedAtSeconds : 0;
    return { ...sample, offsetSeconds, activeSeconds: offsetSeconds - paused - inPause };
  });
}

function pointsOf(record) {
  return record.route.filter((point) => point.counted).map((point) => [
    point.offsetSeconds, point.latitude, point.longitude, point.distanceMeters, point.altitudeMeters, point.startsLine ? 1 : 0,
  ]);
}

/// Route and charts of a run with one cursor over all of them; the cursor stays where it is when they are updated.
export function makeRun(tiles) {
  let samples = [];
  let places = [];
  const route = makeRoute(tiles, (at) => charts.move(at));
  const charts = makeCharts(word("cursor"), (at, numbers) => {
    const sample = samples[indexAt(places, at)] || {};
    return [clock(at), distance(sample.distanceMeters), ...kinds.map((kind, index) => kind.text(numbers[index]))].join(" · ");
  }, (at) => route.show(at));
  const note = element("p", { class: "legend" }, element("span", { class: "band", "aria-hidden": "true" }), word("shaded"));
  /// `points` are those of `/api/route`; `pauses` are stretches of run time.
  function update(points, newSamples, duration, pauses) {
    samples = newSamples;
    places = samples.map((sample) => sample.offsetSeconds);
    route.update(points);
    note.hidden = !pauses.length;
    charts.update(
      [{ places, samples, gap: gapOf(places) }], duration, pauses.map((pause) => ({ from: pause.startedAtSeconds, to: pause.endedAtSeconds })),
      kinds.map((kind) => sentenceOf(kind, samples)), clock);
  }
  return {
    node: element("div", { class: "picture" }, panel(word("route"), route.node), panel(word("charts"), charts.node, note)),
    update,
    updateFrom(record) {
      update(pointsOf(record), samplesOf(record), Math.max(1, record.summary.elapsedSeconds), record.pauses || []);
    },
    move: charts.move,
  };
}

/// Charts of two runs over distance with one cursor: `runs` are two lists of samples that have a distance, `sentences` say
/// what the charts of pace, heart rate and elevation show.
export function makeComparison(runs, sentences) {
  const lines = runs.map((samples) => ({ samples, gap: Infinity, places: samples.map((sample) => sample.distanceMeters) }));
  const charts = makeCharts(word("cursorPlace"), (at) => {
    const times = lines.map((line) => (line.places.length && at <= line.places[line.places.length - 1] ? line.samples[indexAt(line.places, at)].activeSeconds : null));
    return word("comparedAt", { distance: distance(at), first: clock(times[0]), second: clock(times[1]), difference: difference(times[0], times[1], clock) });
  }, () => {});
  const ends = lines.map((line) => line.places[line.places.length - 1] || 0);
  charts.update(lines, Math.max(1, ...ends), [], sentences, roundDistance);
  // Where the shorter run ends the difference says the most.
  charts.move(Math.floor(Math.min(...ends)));
  return charts.node;
}

// MARK: Splits and periods

/// Splits as bars, or laps: a longer bar is faster.
export function drawSplits(report, laps) {
  const splits = report ? (laps ? report.laps : choices.units === "mi" ? report.miles : report.kilometers) : [];
  if (!splits.length) return element("p", { class: "empty" }, word("noSplits"));
  const known = splits.filter((split) => isPace(split.paceSecondsPerKilometer));
  const paces = known.map((split) => split.paceSecondsPerKilometer);
  const fastest = Math.min(...paces);
  const name = (split) => (laps ? word("lapName", { number: split.number }) : split.complete ? String(split.number) : distance(split.distanceMeters));
  const complete = known.filter((split) => laps || split.complete);
  let sentence = "";
  let fastestSplit = null;
  if (complete.length > 1) {
    const ordered = [...complete].sort((a, b) => a.paceSecondsPerKilometer - b.paceSecondsPerKilometer);
    const [best, worst] = [ordered[0], ordered[ordered.length - 1]];
    fastestSplit = best;
    sentence = word("words_splits", {
      best: name(best), low: pace(best.paceSecondsPerKilometer), worst: name(worst), high: pace(worst.paceSecondsPerKilometer),
    });
  }
  const list = element("ol", { class: "splits" }, splits.map((split) => {
    const bar = element("span", { class: "bar" });
    bar.style.width = known.includes(split) ? `${Math.max(4, fastest / split.paceSecondsPerKilometer * 100).toFixed(1)}%` : "0%";
    return element(
      "li", { class: split === fastestSplit ? "best" : split.complete === false ? "open" : null }, element("span", { class: "name" }, name(split)), element("span", { class: "track", "aria-hidden": "true" }, bar),
      element("span", { class: "value" }, pace(split.paceSecondsPerKilometer)), element("span", { class: "value pulse" }, heartRate(split.averageHeartRateBpm)));
  }));
  return element("div", {}, list, sentence ? element("p", { class: "words" }, sentence) : null);
}

/// The most bars of a chart.
export const barsMax = 53;

/// Names every so many periods below their bars, which are each a share of the width; returns whether they keep apart.
function placeNames(labels, shown, every, share) {
  const picked = [...shown.entries()].filter(([index]) => (shown.length - 1 - index) % every === 0);
  const spans = picked.map(([, { period }], place) => {
    const before = place ? picked[place - 1][1].period : period;
    return element("span", {}, periodName(period, true, period.slice(0, 4) !== before.slice(0, 4)));
  });
  labels.replaceChildren(...spans);
  const room = labels.clientWidth;
  let end = -Infinity;
  return spans.map((span) => span.offsetWidth).every((wide, place) => {
    const begin = Math.max(0, Math.min(room - wide, (picked[place][0] + 0.5) * share * room - wide / 2));
    const isApart = begin >= end + 6;
    spans[place].style.left = `${begin}px`;
    end = begin + wide;
    return isApart;
  });
}

/// Bars of distance by period, the mean of the last ones as a line.
export function drawBars(periods, trend) {
  const shown = periods.slice(-barsMax);
  const metersOf = (period) => period.distanceMeters || 0;
  const most = shown.reduce((best, period) => (metersOf(period) > metersOf(best) ? period : best), shown[0]);
  const highest = Math.max(1, metersOf(most));
  const width = chartWidth / Math.max(6, shown.length);
  const yOf = (meters) => chartHeight - meters / highest * (chartHeight - 4);
  const bars = shown.map((period, index) => drawing(
    "g", { class: index === shown.length - 1 ? "present" : null },
    drawing("title", {}, `${periodName(period.period)}: ${distance(metersOf(period))}`),
    drawing("rect", { class: "reach", x: index * width, width, y: 0, height: chartHeight }),
    drawing("rect", { class: "bar", x: index * width + width * 0.14, width: width * 0.72, y: yOf(metersOf(period)) - 1, height: Math.max(chartHeight - yOf(metersOf(period)) + 1, 1) })));
  // The present period is not over and does not count.
  if (trend && isKnown(trend.distanceMetersPerPeriod) && trend.periods > 0) {
    const end = shown.length - 1;
    const before = trend.distanceMetersPerPeriodBefore;
    const mean = (from, to, meters) => bars.push(drawing("line", { class: "mean", x1: Math.max(0, from) * width, x2: to * width, y1: yOf(meters), y2: yOf(meters) }));
    mean(end - trend.periods, end, trend.distanceMetersPerPeriod);
    if (isKnown(before)) mean(end - 2 * trend.periods, end - trend.periods, before);
  }
  const svg = drawing(
    "svg", {
      viewBox: `0 0 ${chartWidth} ${chartHeight}`, preserveAspectRatio: "none", role: "img",
      "aria-label": word("barsWords", { count: shown.length, most: distance(metersOf(most)), period: periodName(most.period) }),
    }, bars);
  const labels = element("p", { class: "names", "aria-hidden": "true" });
  // As many names as have room, the newest first; only the browser knows how wide they are.
  new ResizeObserver(() => {
    for (let every = 1; every <= shown.length && !placeNames(labels, shown, every, width / chartWidth); every += 1);
  }).observe(labels);
  return element(
    "div", { class: "bars" }, element("span", { class: "high", "aria-hidden": "true" }, roundDistance(highest)), element("span", { class: "low", "aria-hidden": "true" }, roundDistance(0)), svg, labels);
}
