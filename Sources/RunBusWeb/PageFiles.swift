// Written by scripts/embed-page from the folder web. Do not edit.

// swift-format-ignore-file

/// The files of the page.
enum PageFiles {
  /// A file's text and content type; `nil` for another name.
  static func file(_ name: String) -> (text: String, type: String)? {
    switch name {
    case "api.js": (api_js, "text/javascript; charset=utf-8")
    case "charts.js": (charts_js, "text/javascript; charset=utf-8")
    case "element.js": (element_js, "text/javascript; charset=utf-8")
    case "format.js": (format_js, "text/javascript; charset=utf-8")
    case "index.html": (index_html, "text/html; charset=utf-8")
    case "live.js": (live_js, "text/javascript; charset=utf-8")
    case "page.css": (page_css, "text/css; charset=utf-8")
    case "page.js": (page_js, "text/javascript; charset=utf-8")
    case "records.js": (records_js, "text/javascript; charset=utf-8")
    case "words.js": (words_js, "text/javascript; charset=utf-8")
    default: nil
    }
  }

  static let api_js = #"""
// Requests to the server that served the page.

/// The JSON of an address; throws a sentence for people.
export async function load(path) {
  const response = await fetch(path, { headers: { Accept: "application/json" } });
  const body = await response.json().catch(() => null);
  if (!response.ok) throw new Error(body && body.error ? body.error.message : `${response.status}`);
  return body;
}

/// Presses a button and returns what became of it, as a receipt.
export async function press(command, source) {
  const response = await fetch("/api/press", {
    method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify({ command, source }),
  });
  const body = await response.json().catch(() => null);
  if (!response.ok || !body) throw new Error(body && body.error ? body.error.message : `${response.status}`);
  return body;
}

/// Follows the present run: `onView` gets each view, `onState` whether the stream is open, opening or closed. A closed
/// stream (too many viewers, or no token) is tried again every ten seconds.
export function follow(onView, onState) {
  let source = null;
  let timer = null;
  function open() {
    source = new EventSource("/events");
    source.addEventListener("open", () => onState("open"));
    source.addEventListener("view", (event) => onView(JSON.parse(event.data)));
    source.addEventListener("error", () => {
      const isClosed = source.readyState === EventSource.CLOSED;
      onState(isClosed ? "closed" : "opening");
      if (isClosed) timer = setTimeout(open, 10000);
    });
  }
  open();
  return () => {
    clearTimeout(timer);
    source.close();
  };
}

"""#

  static let charts_js = #"""
// Drawings of a run: its route, its charts with one cursor over all of them, its splits.
import { choices, clock, distance, heartRate, height, pace, word } from "./format.js";
import { drawing, element, setText } from "./element.js";

const chartWidth = 800;
const chartHeight = 120;

/// The extremes of a value, outliers of one in fifty cut off at either side for the drawing only.
function boundsOf(values) {
  const known = values.filter((value) => value !== null && value !== undefined).sort((a, b) => a - b);
  if (known.length < 2) return null;
  const cut = Math.floor(known.length / 50);
  const [low, high] = [known[cut], known[known.length - 1 - cut]];
  return high > low ? { low, high } : { low: low - 1, high: high + 1 };
}

/// A path over places from 0 to 1 across; gaps where a value is missing.
function pathOf(places, values, bounds, inverted) {
  let path = "";
  let isOpen = false;
  values.forEach((value, index) => {
    if (value === null || value === undefined) { isOpen = false; return; }
    const share = Math.min(1, Math.max(0, (value - bounds.low) / (bounds.high - bounds.low)));
    const y = (inverted ? share : 1 - share) * (chartHeight - 8) + 4;
    path += `${isOpen ? "L" : "M"}${(places[index] * chartWidth).toFixed(1)} ${y.toFixed(1)}`;
    isOpen = true;
  });
  return path;
}

function extremes(samples, key, text, wording) {
  let [low, high] = [null, null];
  for (const sample of samples) {
    const value = sample[key];
    if (value === null || value === undefined) continue;
    if (low === null || value < low[key]) low = sample;
    if (high === null || value > high[key]) high = sample;
  }
  return low && word(wording, {
    low: text(low[key]), lowAt: clock(low.offsetSeconds), high: text(high[key]), highAt: clock(high.offsetSeconds),
  });
}

const kinds = [
  { key: "paceSecondsPerKilometer", name: "pace", text: pace, wording: "paceWords", inverted: true },
  { key: "heartRateBpm", name: "heartRate", text: heartRate, wording: "rangeWords", inverted: false },
  { key: "altitudeMeters", name: "elevation", text: height, wording: "rangeWords", inverted: false },
];

/// The route as a line, north up, with a mark that follows the cursor.
function drawRoute(points, tiles) {
  if (points.length < 2) return { node: element("p", { class: "empty" }, word("noRoute")), show() {} };
  const scale = Math.max(0.01, Math.cos(points[0][1] * Math.PI / 180));
  const xs = points.map((point) => point[2] * scale);
  const ys = points.map((point) => -point[1]);
  const [left, right, top, bottom] = [Math.min(...xs), Math.max(...xs), Math.min(...ys), Math.max(...ys)];
  const size = Math.max(right - left, bottom - top, 1e-6);
  const place = (index) => [
    (xs[index] - left + (size - (right - left)) / 2) / size * 360 + 20,
    (ys[index] - top + (size - (bottom - top)) / 2) / size * 360 + 20,
  ];
  const path = points.map((point, index) => {
    const [x, y] = place(index);
    return `${index && !point[5] ? "L" : "M"}${x.toFixed(1)} ${y.toFixed(1)}`;
  }).join("");
  const last = place(points.length - 1);
  const mark = drawing("circle", { r: 8, class: "mark", cx: last[0], cy: last[1] });
  const length = points[points.length - 1][3];
  const node = drawing(
    "svg", { viewBox: "0 0 400 400", class: "route", role: "img", "aria-label": word("routeWords", { distance: distance(length) }) },
    tiles ? drawTiles(tiles, points, scale, { left, top, size, width: right - left, height: bottom - top }) : null,
    drawing("path", { d: path, class: "line" }),
    drawing("circle", { r: 6, class: "begin", cx: place(0)[0], cy: place(0)[1] }), mark);
  return {
    node,
    show(seconds) {
      let index = points.findIndex((point) => point[0] > seconds);
      if (index < 0) index = points.length;
      const [x, y] = place(Math.max(0, index - 1));
      mark.setAttribute("cx", x);
      mark.setAttribute("cy", y);
    },
  };
}

/// Map tiles below the route, as the owner asked for with --tiles.
function drawTiles(template, points, scale, box) {
  const latitude = -(box.top + box.height / 2);
  const spanDegrees = box.size / scale;
  const zoom = Math.max(1, Math.min(17, Math.floor(Math.log2(360 / spanDegrees * 1.5))));
  const count = 2 ** zoom;
  const column = (longitude) => (longitude + 180) / 360 * count;
  const row = (degrees) => {
    const radians = degrees * Math.PI / 180;
    return (1 - Math.log(Math.tan(radians) + 1 / Math.cos(radians)) / Math.PI) / 2 * count;
  };
  const middle = (box.left + box.width / 2) / scale;
  const perTile = 360 / count * scale / box.size * 360;
  const [x0, y0] = [column(middle), row(latitude)];
  const group = drawing("g", { class: "tiles" });
  const reach = Math.ceil(220 / perTile);
  for (let x = Math.floor(x0) - reach; x <= Math.floor(x0) + reach; x += 1) {
    for (let y = Math.floor(y0) - reach; y <= Math.floor(y0) + reach; y += 1) {
      if (y < 0 || y >= count) continue;
      const url = template.replace("{z}", zoom).replace("{x}", ((x % count) + count) % count).replace("{y}", y);
      group.append(drawing("image", { href: url, x: 200 + (x - x0) * perTile, y: 200 + (y - y0) * perTile, width: perTile, height: perTile }));
    }
  }
  return group;
}

function drawChart(kind, samples, duration, onPoint) {
  const values = samples.map((sample) => sample[kind.key]);
  const bounds = boundsOf(values);
  const title = element("h3", {}, word(kind.name));
  if (!bounds) return { node: element("figure", { class: "chart" }, title, element("p", { class: "empty" }, word("noChart"))), show() {} };
  const places = samples.map((sample) => sample.offsetSeconds / Math.max(1, duration));
  const sentence = extremes(samples, kind.key, kind.text, kind.wording);
  const line = drawing("line", { class: "cursor", y1: 0, y2: chartHeight, x1: -9, x2: -9 });
  const svg = drawing(
    "svg", { viewBox: `0 0 ${chartWidth} ${chartHeight}`, preserveAspectRatio: "none", role: "img", "aria-label": `${word(kind.name)}. ${sentence}` },
    drawing("path", { d: pathOf(places, values, bounds, kind.inverted), class: `line ${kind.name}` }), line);
  const point = (event) => {
    const box = svg.getBoundingClientRect();
    onPoint(Math.min(1, Math.max(0, (event.clientX - box.left) / box.width)));
  };
  svg.addEventListener("pointermove", point);
  svg.addEventListener("pointerdown", point);
  const [top, bottom] = kind.inverted ? [bounds.low, bounds.high] : [bounds.high, bounds.low];
  const node = element(
    "figure", { class: "chart" }, title,
    element("div", { class: "plot" }, element("span", { class: "high" }, kind.text(top)), svg, element("span", { class: "low" }, kind.text(bottom))),
    element("figcaption", {}, sentence));
  return { node, show(share) { line.setAttribute("x1", share * chartWidth); line.setAttribute("x2", share * chartWidth); } };
}

/// Route and charts with one cursor. `keep` holds the place of the cursor over redrawings.
export function drawRun(points, samples, duration, tiles, keep) {
  const route = drawRoute(points, tiles);
  const readout = element("p", { class: "readout" });
  const slider = element("input", { type: "range", min: 0, max: 1000, step: 1, id: "cursor", "aria-label": word("cursor") });
  const charts = kinds.map((kind) => drawChart(kind, samples, duration, (share) => {
    slider.value = Math.round(share * 1000);
    show();
  }));
  function show() {
    const share = slider.value / 1000;
    keep.share = share;
    const seconds = share * duration;
    let sample = samples[0] || {};
    for (const other of samples) { if (other.offsetSeconds > seconds) break; sample = other; }
    const text = [
      clock(seconds), distance(sample.distanceMeters), pace(sample.paceSecondsPerKilometer), heartRate(sample.heartRateBpm),
      height(sample.altitudeMeters),
    ].join(" · ");
    setText(readout, text);
    slider.setAttribute("aria-valuetext", text);
    route.show(seconds);
    for (const chart of charts) chart.show(share);
  }
  slider.addEventListener("input", show);
  slider.value = Math.round((keep.share ?? 1) * 1000);
  show();
  return element(
    "div", { class: "picture" },
    element("section", { class: "panel" }, element("h2", {}, word("route")), route.node),
    element(
      "section", { class: "panel" }, element("h2", {}, word("charts")), readout, slider,
      charts.map((chart) => chart.node)));
}

/// Splits as bars: a longer bar is faster.
export function drawSplits(report, laps) {
  const splits = report ? (laps ? report.laps : choices.units === "mi" ? report.miles : report.kilometers) : [];
  const known = splits.filter((split) => split.paceSecondsPerKilometer);
  if (!known.length) return element("p", { class: "empty" }, word("noSplits"));
  const fastest = Math.min(...known.map((split) => split.paceSecondsPerKilometer));
  return element("ol", { class: "splits" }, known.map((split) => {
    const name = laps ? word("lapName", { number: split.number }) : split.complete ? String(split.number) : distance(split.distanceMeters);
    const bar = element("span", { class: "bar" });
    bar.style.width = `${Math.max(4, Math.round(fastest / split.paceSecondsPerKilometer * 100))}%`;
    return element(
      "li", {}, element("span", { class: "name" }, name), element("span", { class: "track" }, bar),
      element("span", { class: "value" }, pace(split.paceSecondsPerKilometer)),
      element("span", { class: "value" }, heartRate(split.averageHeartRateBpm)));
  }));
}

/// Charts of two runs over distance, one line each.
export function drawComparison(first, second) {
  const longest = Math.max(first.summary.distanceMeters || 1, second.summary.distanceMeters || 1);
  return kinds.map((kind) => {
    const runs = [first, second].map((run) => run.series.samples.filter((sample) => sample.distanceMeters !== null));
    const bounds = boundsOf(runs.flat().map((sample) => sample[kind.key]));
    const title = element("h3", {}, word(kind.name));
    if (!bounds) return element("figure", { class: "chart" }, title, element("p", { class: "empty" }, word("noChart")));
    const paths = runs.map((samples, index) => drawing("path", {
      class: index ? "line other" : `line ${kind.name}`,
      d: pathOf(samples.map((sample) => sample.distanceMeters / longest), samples.map((sample) => sample[kind.key]), bounds, kind.inverted),
    }));
    const [top, bottom] = kind.inverted ? [bounds.low, bounds.high] : [bounds.high, bounds.low];
    return element(
      "figure", { class: "chart" }, title,
      element(
        "div", { class: "plot" }, element("span", { class: "high" }, kind.text(top)),
        drawing("svg", { viewBox: `0 0 ${chartWidth} ${chartHeight}`, preserveAspectRatio: "none", role: "img", "aria-label": word("compareWords", { name: word(kind.name) }) }, paths),
        element("span", { class: "low" }, kind.text(bottom))),
      element("figcaption", { class: "ends" }, element("span", {}, distance(0)), element("span", {}, distance(longest))));
  });
}

/// Bars of distance by period.
export function drawBars(periods) {
  const shown = periods.slice(-53);
  const most = shown.reduce((best, period) => ((period.distanceMeters || 0) > (best.distanceMeters || 0) ? period : best), shown[0]);
  const highest = Math.max(1, most.distanceMeters || 0);
  const width = chartWidth / shown.length;
  return drawing(
    "svg", {
      viewBox: `0 0 ${chartWidth} ${chartHeight}`, preserveAspectRatio: "none", class: "bars", role: "img",
      "aria-label": word("barsWords", { count: shown.length, most: distance(most.distanceMeters || 0), period: most.period }),
    },
    shown.map((period, index) => {
      const tall = (period.distanceMeters || 0) / highest * (chartHeight - 4);
      return drawing("rect", { x: index * width + width * 0.12, width: width * 0.76, y: chartHeight - tall, height: Math.max(tall, 1) });
    }));
}

"""#

  static let element_js = #"""
// Makes elements. Texts of others only ever become text nodes.

export function element(name, attributes, ...children) {
  return fill(document.createElement(name), attributes, children);
}

export function drawing(name, attributes, ...children) {
  return fill(document.createElementNS("http://www.w3.org/2000/svg", name), attributes, children);
}

function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes || {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else node.setAttribute(name, value === true ? "" : value);
  }
  for (const child of children.flat()) {
    if (child !== null && child !== undefined && child !== false) node.append(child);
  }
  return node;
}

/// Sets a text only when it differs, so that screen readers and the layout are not troubled.
export function setText(node, text) { if (node.textContent !== text) node.textContent = text; }

"""#

  static let format_js = #"""
// The reader's choices (language, units, colours), and numbers and texts by them.
import { words } from "./words.js";

export const choices = { language: "en", units: "km", theme: "auto" };

function stored(name) {
  try { return localStorage.getItem("runbus-" + name); } catch { return null; }
}

export function loadChoices() {
  const language = navigator.language || "en";
  choices.language = stored("language") || (language.startsWith("ko") ? "ko" : "en");
  choices.units = stored("units") || (/^en-(US|LR)|^my/.test(language) ? "mi" : "km");
  choices.theme = stored("theme") || "auto";
}

export function choose(name, value) {
  choices[name] = value;
  try { localStorage.setItem("runbus-" + name, value); } catch { /* a file has no storage in some browsers */ }
}

/// A text in the reader's language, with `{names}` replaced.
export function word(key, values) {
  const text = words[key] ? words[key][choices.language] : key;
  return text.replace(/\{(\w+)\}/g, (all, name) => (values && name in values ? values[name] : all));
}

export function hasWord(key) { return key in words; }

const mile = 1609.344;

export function clock(seconds) {
  if (seconds === null || seconds === undefined || !isFinite(seconds)) return "–";
  const all = Math.max(0, Math.floor(seconds));
  const [hours, minutes, rest] = [Math.floor(all / 3600), Math.floor(all / 60) % 60, all % 60];
  const two = (number) => String(number).padStart(2, "0");
  return hours ? `${hours}:${two(minutes)}:${two(rest)}` : `${minutes}:${two(rest)}`;
}

/// A short span: `7 s`, `1:10`.
export function span(seconds) { return seconds < 60 ? `${Math.floor(seconds)} s` : clock(seconds); }

function decimals(value, digits) {
  return value.toLocaleString(choices.language, { minimumFractionDigits: digits, maximumFractionDigits: digits });
}

export function distance(meters) {
  if (meters === null || meters === undefined) return "–";
  return choices.units === "mi" ? `${decimals(meters / mile, 2)} mi` : `${decimals(meters / 1000, 2)} km`;
}

export function pace(secondsPerKilometer) {
  if (secondsPerKilometer === null || secondsPerKilometer === undefined || !isFinite(secondsPerKilometer)) return "–";
  const imperial = choices.units === "mi";
  return `${clock(Math.round(imperial ? secondsPerKilometer * mile / 1000 : secondsPerKilometer))} /${imperial ? "mi" : "km"}`;
}

export function height(meters) {
  if (meters === null || meters === undefined) return "–";
  return choices.units === "mi" ? `${Math.round(meters / 0.3048)} ft` : `${Math.round(meters)} m`;
}

export function heartRate(bpm) { return bpm === null || bpm === undefined ? "–" : `${Math.round(bpm)} bpm`; }

export function energy(joules) { return joules === null || joules === undefined ? "–" : `${Math.round(joules / 4184)} kcal`; }

export function milliseconds(seconds) {
  return seconds === null || seconds === undefined ? "–" : `${decimals(seconds * 1000, 1)} ms`;
}

/// The day and minute at which a run started, by its own clock where that is known.
export function startOf(summary) {
  const known = typeof summary.utcOffsetSeconds === "number";
  const date = new Date((summary.startedAtUnixSeconds + (known ? summary.utcOffsetSeconds : 0)) * 1000);
  return date.toLocaleString(choices.language, {
    dateStyle: "medium", timeStyle: "short", ...(known ? { timeZone: "UTC" } : {}),
  });
}

export function timeOfDay(text) { return new Date(text).toLocaleTimeString(choices.language); }

export function sourceName(source) { return hasWord("source_" + source) ? word("source_" + source) : source; }

export function commandName(command) { return hasWord("command_" + command) ? word("command_" + command) : command; }

/// What became of a press, in a sentence.
export function verdictText(receipt) {
  const command = commandName(receipt.command);
  const outcome = hasWord("verdict_" + receipt.receipt) ? receipt.receipt : "unknown";
  const sentence = word("verdict_" + outcome, { command });
  if (outcome !== "rejected" || !receipt.reason) return sentence;
  if (receipt.reason === "illegal") {
    return `${sentence}: ${word("reason_illegal", { phase: word("phase_" + (receipt.illegalPhase || "unknown")) })}`;
  }
  const key = "reason_" + receipt.reason;
  return `${sentence}: ${hasWord(key) ? word(key) : word("reason_other", { reason: receipt.reason })}`;
}

"""#

  static let index_html = #"""
<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>RunBus</title>
<meta name="referrer" content="no-referrer">
<link rel="icon" href="data:,">
<link rel="stylesheet" href="page.css">
<script type="module" src="page.js"></script>
</head>
<body>
<a class="skip" href="#main" data-word="skip"></a>
<header>
<p class="brand">RunBus</p>
<nav data-label="navigation">
<a href="#/" data-word="run"></a>
<a href="#/records" data-word="records"></a>
<a href="#/stats" data-word="statistics"></a>
</nav>
<div class="switches">
<button type="button" id="language"></button>
<button type="button" id="units"></button>
<button type="button" id="theme"></button>
</div>
</header>
<p id="banner" role="status" hidden></p>
<main id="main" tabindex="-1"></main>
<p id="told" class="told" role="status" aria-live="polite"></p>
</body>
</html>

"""#

  static let live_js = #"""
// The present run: the lock-screen card and the island, which draw a push and nothing else, and the dashboard.
import { follow, load, press } from "./api.js";
import { drawRun, drawSplits } from "./charts.js";
import { element, setText } from "./element.js";
import { clock, commandName, distance, energy, hasWord, heartRate, height, milliseconds, pace, sourceName, span, timeOfDay, verdictText, word } from "./format.js";

const buttonsOf = {
  idle: ["start"], running: ["pause", "lap", "stop"], paused: ["resume", "stop"], completed: ["start"],
  unknown: ["pause", "resume", "stop"],
};

/// What a push says about now: active time, whether it is stale, how old it is. `at` is when the push came, by Date.now(),
/// which goes on while the machine sleeps.
export function presentOf(live, at, now) {
  const passed = Math.max(0, (now - at) / 1000);
  return {
    seconds: live.activeSeconds + (live.clockTicks ? (live.ageSeconds + passed) * live.speed : 0),
    isStale: live.stale || (live.staleInSeconds !== null && live.staleInSeconds !== undefined && passed >= live.staleInSeconds),
    age: live.pushAgeSeconds + passed,
  };
}

function pressButton(command, source, tell) {
  return element("button", {
    type: "button", class: `press ${command}`, "data-command": command,
    onclick: async (event) => {
      const button = event.currentTarget;
      button.setAttribute("aria-busy", "true");
      tell(verdictText({ command, receipt: "pending" }));
      try {
        tell(verdictText(await press(command, source)));
      } catch (error) {
        tell(word("pressFailed", { command: commandName(command), reason: error.message }));
      }
      button.removeAttribute("aria-busy");
    },
  }, commandName(command));
}

/// Shows buttons for commands; those that exist stay, so that the focus stays.
function updateButtons(box, commands, source, pending, tell) {
  const present = [...box.children].map((button) => button.dataset.command);
  if (present.join() !== commands.join()) {
    const focused = box.contains(document.activeElement);
    box.replaceChildren(...commands.map((command) => pressButton(command, source, tell)));
    if (focused && box.firstChild) box.firstChild.focus();
  }
  for (const button of box.children) {
    const waits = pending.includes(button.dataset.command);
    button.classList.toggle("waits", waits);
    setText(button, waits ? word("pendingCard", { command: commandName(button.dataset.command) }) : commandName(button.dataset.command));
  }
}

function metric(name) {
  const value = element("dd");
  return { value, node: element("div", { class: "metric" }, element("dt", {}, word(name)), value) };
}

/// The card of the lock screen and the island. Both draw only what was pushed.
function makeLockScreen(tell) {
  const timer = element("p", { class: "timer" });
  const phase = element("p", { class: "phase" });
  const note = element("p", { class: "note" });
  const metrics = { distance: metric("distance"), pace: metric("pace"), heartRate: metric("heartRate") };
  const buttons = element("div", { class: "buttons" });
  const push = element("p", { class: "push" });
  const list = element("dl", { class: "metrics" }, Object.values(metrics).map((one) => one.node));
  const card = element("section", { class: "card", "aria-label": word("lockScreen") }, phase, timer, list, note, buttons, push);
  const islandTimer = element("span", { class: "timer" });
  const islandMark = element("span", { class: "dot", "aria-hidden": "true" });
  const islandMore = element("span", { class: "more" });
  const island = element(
    "details", { class: "island" },
    element("summary", { "aria-label": word("island") }, islandMark, islandTimer), islandMore);
  let live = null;
  let at = 0;
  function tick() {
    const now = Date.now();
    const hasRun = live !== null;
    card.classList.toggle("none", !hasRun);
    if (!hasRun) {
      setText(phase, word("noActivity"));
      setText(timer, clock(0));
      setText(islandTimer, clock(0));
      setText(islandMore, word("noActivity"));
      return;
    }
    const present = presentOf(live, at, now);
    setText(timer, clock(present.seconds));
    setText(islandTimer, clock(present.seconds));
    for (const node of [card, island]) {
      node.classList.toggle("stale", present.isStale || live.hubLost);
      node.dataset.phase = live.phase;
    }
    const age = span(present.age);
    setText(note, live.hubLost ? word("hubLost") : present.isStale ? word("staleCard", { age }) : "");
  }
  return {
    card, island, tick,
    show(view, time) {
      [live, at] = [view, time];
      if (live) {
        const by = live.changedBy ? ` · ${word("changedBy", { source: sourceName(live.changedBy) })}` : "";
        setText(phase, live.recovering ? word("recovering") : word("phase_" + live.phase) + by);
        setText(metrics.distance.value, distance(live.distanceMeters));
        setText(metrics.pace.value, pace(live.paceSecondsPerKilometer ?? live.averagePaceSecondsPerKilometer));
        setText(metrics.heartRate.value, heartRate(live.heartRateBpm));
        setText(islandMore, `${word("phase_" + live.phase)} · ${distance(live.distanceMeters)} · ${heartRate(live.heartRateBpm)}`);
        const kind = hasWord("push_" + live.push.kind) ? live.push.kind : "unknown";
        setText(push, word("pushLine", { number: live.push.number, kind: word("push_" + kind), left: live.push.budgetLeft }));
      }
      const commands = live ? buttonsOf[live.phase] || [] : ["start"];
      updateButtons(buttons, commands.filter((command) => command !== "lap").slice(0, 2), "liveActivity", live ? live.pending : [], tell);
      tick();
    },
  };
}

function table(names, rows) {
  return element(
    "table", {}, element("thead", {}, element("tr", {}, names.map((name) => element("th", { scope: "col" }, word(name))))),
    element("tbody", {}, rows.map((cells) => element("tr", {}, cells.map((cell) => element("td", {}, cell))))));
}

function drawDevices(devices) {
  if (!devices.length) return element("p", { class: "empty" }, word("noDevices"));
  return table(["device", "state", "roundTrip", "waiting", "heard"], devices.map((device) => [
    device.deviceId, device.reachable ? word("here") : word("gone"), milliseconds(device.roundTripSeconds), String(device.waiting),
    device.heardAgeSeconds === null || device.heardAgeSeconds === undefined ? "–" : word("ago", { age: span(device.heardAgeSeconds) }),
  ]));
}

function drawCommands(commands) {
  if (!commands.length) return element("p", { class: "empty" }, word("noCommands"));
  return element("ol", { class: "commands" }, commands.map((command) => element(
    "li", { class: command.receipt }, element("span", {}, verdictText(command)),
    element("small", {}, word("fromDevice", { device: command.deviceId, source: sourceName(command.source), time: timeOfDay(command.at) })))));
}

/// The view of the present run; returns what ends it.
export function showLive(main, tell, banner, tiles) {
  const lockScreen = makeLockScreen(tell);
  const line = element("p", { class: "line-of-state" });
  const buttons = element("div", { class: "buttons" });
  const numbers = element("dl", { class: "numbers" });
  const picture = element("div");
  const splits = element("div");
  const devices = element("div");
  const commands = element("div");
  main.replaceChildren(
    element("h1", { class: "hidden" }, word("run")), lockScreen.island,
    element(
      "div", { class: "top" }, lockScreen.card,
      element("section", { class: "panel" }, element("h2", {}, word("now")), line, numbers, element("h2", {}, word("controls")), buttons)),
    picture,
    element(
      "div", { class: "columns" },
      element("section", { class: "panel" }, element("h2", {}, word("splits")), splits),
      element("section", { class: "panel" }, element("h2", {}, word("commands")), commands),
      element("section", { class: "panel" }, element("h2", {}, word("devices")), devices)));
  const keep = { share: null };
  let view = null;
  let shownRun = "";
  let shownReport = "";
  let isBusy = false;
  let isEnded = false;

  async function refresh() {
    if (isBusy || !view || isEnded) return;
    isBusy = true;
    try {
      const run = `${view.routeVersion}`;
      if (run !== shownRun || (view.state.phase === "running" && keep.share === null)) {
        const [route, series] = await Promise.all([load("/api/route"), load("/api/series")]);
        shownRun = run;
        const duration = Math.max(1, view.state.metrics.elapsedSeconds, ...series.samples.slice(-1).map((sample) => sample.offsetSeconds));
        const hasFocus = document.activeElement && document.activeElement.id === "cursor";
        if (!isEnded) picture.replaceChildren(drawRun(route.points, series.samples, duration, tiles, keep));
        if (hasFocus) document.getElementById("cursor").focus();
      }
      if (`${view.reportVersion}` !== shownReport) {
        shownReport = `${view.reportVersion}`;
        const report = await load("/api/report");
        if (report) splits.replaceChildren(drawSplits(report, false), ...(report.laps.length ? [drawSplits(report, true)] : []));
        else splits.replaceChildren(drawSplits(null, false));
      }
    } catch { /* the stream says when the connection is lost; the next view tries again */ }
    isBusy = false;
  }

  function show(next) {
    view = next;
    lockScreen.show(view.live || null, Date.now());
    const metrics = view.state.metrics;
    const parts = [word("phase_" + (hasWord("phase_" + view.state.phase) ? view.state.phase : "unknown"))];
    if (view.state.changedBy) parts.push(word("changedBy", { source: sourceName(view.state.changedBy.source) }));
    if (view.link.refusal) parts.push(word("refused", { reason: view.link.refusal }));
    else if (view.hubLost) parts.push(word("hubLost"));
    else if (view.hubOffDuty) parts.push(word("hubAway"));
    else if (!view.link.reachable) parts.push(word("hubUnreachable"));
    setText(line, parts.join(" · "));
    line.classList.toggle("warn", !view.link.reachable || view.hubLost || view.hubOffDuty);
    const values = [
      ["elapsed", clock(metrics.elapsedSeconds)], ["distance", distance(metrics.distanceMeters)], ["averagePace", pace(metrics.averagePaceSecondsPerKilometer)],
      ["averageHeartRate", heartRate(metrics.averageHeartRateBpm)], ["climbed", height(metrics.elevationGainMeters)], ["energy", energy(metrics.energyJoules)],
    ];
    numbers.replaceChildren(...values.map(([name, value]) => element("div", { class: "metric" }, element("dt", {}, word(name)), element("dd", {}, value))));
    const pending = view.commands.filter((command) => command.receipt === "pending" || command.receipt === "queued").map((command) => command.command);
    updateButtons(buttons, buttonsOf[view.predicted] || buttonsOf.unknown, "page", pending, tell);
    devices.replaceChildren(drawDevices(view.devices));
    commands.replaceChildren(drawCommands(view.commands));
    refresh();
  }

  const stop = follow(show, (state) => {
    banner.hidden = state === "open";
    setText(banner, state === "open" ? "" : word(state === "closed" ? "closed" : "reconnecting"));
  });
  const ticking = setInterval(lockScreen.tick, 200);
  const refreshing = setInterval(refresh, 3000);
  lockScreen.show(null, Date.now());
  return () => {
    isEnded = true;
    stop();
    clearInterval(ticking);
    clearInterval(refreshing);
    banner.hidden = true;
  };
}

"""#

  static let page_css = #"""
:root {
  --paper: #f4f4f1; --panel: #ffffff; --ink: #1b1d1f; --soft: #5a6067; --line: #d9dad6; --pace: #0a62b5; --heart: #b3263c;
  --height: #55702b; --other: #8a4b00; --run: #1d7a3e; --hold: #8a5a00; --end: #4c4f55; --warn: #a32020; --press: #12406d;
  color-scheme: light;
}
@media (prefers-color-scheme: dark) { :root:not([data-theme="light"]) {
  --paper: #14161a; --panel: #1e2127; --ink: #eceef0; --soft: #a5adb6; --line: #363b43; --pace: #6db4ff; --heart: #ff8b9a;
  --height: #a9cf74; --other: #f2b25c; --run: #63d48b; --hold: #f0bd5a; --end: #b6bcc4; --warn: #ff9c9c; --press: #a9d2ff;
  color-scheme: dark;
} }
:root[data-theme="dark"] {
  --paper: #14161a; --panel: #1e2127; --ink: #eceef0; --soft: #a5adb6; --line: #363b43; --pace: #6db4ff; --heart: #ff8b9a;
  --height: #a9cf74; --other: #f2b25c; --run: #63d48b; --hold: #f0bd5a; --end: #b6bcc4; --warn: #ff9c9c; --press: #a9d2ff;
  color-scheme: dark;
}
* { box-sizing: border-box; }
body { margin: 0; background: var(--paper); color: var(--ink); font: 16px/1.45 system-ui, "Noto Sans CJK KR", sans-serif; }
h1 { font-size: 1.6rem; margin: 0.4rem 0; } h2 { font-size: 1.05rem; margin: 0 0 0.6rem; } h3 { font-size: 0.95rem; margin: 0; font-weight: 600; }
a { color: var(--press); } p { margin: 0.3rem 0; } table { border-collapse: collapse; width: 100%; }
.hidden { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
.skip { position: absolute; left: -999rem; } .skip:focus { left: 0.5rem; top: 0.5rem; background: var(--panel); padding: 0.5rem; z-index: 9; }
:focus-visible { outline: 3px solid var(--pace); outline-offset: 2px; border-radius: 4px; }
main:focus { outline: none; }
header { display: flex; flex-wrap: wrap; gap: 0.4rem 1.2rem; align-items: center; padding: 0.6rem 1rem; border-bottom: 1px solid var(--line); background: var(--panel); }
.brand { font-weight: 700; margin: 0; } nav { display: flex; gap: 1rem; flex: 1; } nav a { text-decoration: none; padding: 0.3rem 0; }
nav a[aria-current] { border-bottom: 3px solid var(--pace); color: var(--ink); font-weight: 600; }
.switches { display: flex; flex-wrap: wrap; gap: 0.4rem; }
button, .button, select, input[type="search"] { font: inherit; color: var(--ink); background: var(--panel); border: 1px solid var(--soft); border-radius: 8px; padding: 0.35rem 0.8rem; cursor: pointer; text-decoration: none; }
.switches button { font-size: 0.85rem; padding: 0.2rem 0.6rem; }
#banner { background: var(--warn); color: var(--paper); margin: 0; padding: 0.5rem 1rem; font-weight: 600; }
main { max-width: 1200px; margin: 0 auto; padding: 1rem; }
.told { position: fixed; left: 50%; bottom: 1rem; transform: translateX(-50%); background: var(--ink); color: var(--paper); border-radius: 999px; padding: 0.5rem 1.2rem; margin: 0; max-width: calc(100vw - 2rem); z-index: 5; }
.told:empty { display: none; }
.panel { background: var(--panel); border: 1px solid var(--line); border-radius: 16px; padding: 1rem; margin: 0 0 1rem; min-width: 0; }
.top { display: grid; grid-template-columns: minmax(300px, 380px) 1fr; gap: 1rem; margin-top: 1rem; }
.columns { display: grid; grid-template-columns: repeat(auto-fit, minmax(280px, 1fr)); gap: 1rem; align-items: start; }
.picture { display: grid; grid-template-columns: minmax(260px, 2fr) 3fr; gap: 1rem; align-items: start; }
.card { border-radius: 24px; padding: 1.2rem 1.4rem; margin-bottom: 1rem; color: #f5f6f8; background: linear-gradient(160deg, rgba(44, 52, 66, 0.94), rgba(18, 22, 30, 0.97)); backdrop-filter: blur(20px); box-shadow: 0 12px 30px rgba(0, 0, 0, 0.22); }
.card .timer { font-size: 3.4rem; font-weight: 650; line-height: 1.05; margin: 0.1rem 0 0.6rem; font-variant-numeric: tabular-nums; letter-spacing: -0.02em; }
.card .phase { font-weight: 600; color: #8fe3ac; } .card[data-phase="paused"] .phase { color: #ffd27a; } .card[data-phase="completed"] .phase, .card.none .phase { color: #d5dae2; }
.card .metrics { display: grid; grid-template-columns: repeat(3, 1fr); gap: 0.5rem; margin: 0; } 
.card .note { color: #ffb3b3; min-height: 1.4em; font-weight: 600; } .card .push { color: #c3cad5; font-size: 0.8rem; margin: 0.6rem 0 0; }
.card.stale .timer, .card.stale .metrics { opacity: 0.55; }
.metric dt { font-size: 0.8rem; color: var(--soft); } .metric dd { margin: 0; font-size: 1.2rem; font-weight: 600; font-variant-numeric: tabular-nums; }
.card .metric dt { color: #c3cad5; }
.numbers { display: grid; grid-template-columns: repeat(auto-fill, minmax(120px, 1fr)); gap: 0.8rem; margin: 0 0 1rem; }
.buttons { display: flex; flex-wrap: wrap; gap: 0.6rem; }
.press { flex: 1; min-height: 44px; border-radius: 999px; font-weight: 650; border: 2px solid transparent; background: #e5efe8; color: #12502a; }
.press.pause, .press.lap { background: #fdf1d8; color: #6b4600; } .press.stop { background: #fbe3e3; color: #8b1a1a; flex: 0 1 auto; padding-inline: 1.4rem; }
.press.waits { border-style: dashed; border-color: currentColor; }
.line-of-state { font-weight: 600; } .warn { color: var(--warn); }
.island { margin: 0 auto; width: max-content; max-width: 100%; background: #0b0c0e; color: #fff; border-radius: 999px; padding: 0.45rem 1.1rem; font-variant-numeric: tabular-nums; }
.island[open] { border-radius: 24px; } .island summary { list-style: none; display: flex; gap: 1.6rem; align-items: center; justify-content: space-between; cursor: pointer; } .island summary::-webkit-details-marker { display: none; }
.island .dot { width: 0.8rem; height: 0.8rem; border-radius: 50%; background: #63d48b; } .island[data-phase="paused"] .dot { background: #ffd27a; border-radius: 2px; } .island[data-phase="completed"] .dot { background: #d5dae2; border-radius: 2px; }
.island .more { display: block; padding-top: 0.4rem; color: #e3e7ee; } .island.stale .timer { opacity: 0.6; }
.route { width: 100%; max-height: 420px; } .route .line { fill: none; stroke: var(--pace); stroke-width: 4; stroke-linejoin: round; stroke-linecap: round; }
.route .mark { fill: var(--heart); stroke: var(--panel); stroke-width: 3; } .route .begin { fill: var(--run); } .tiles { opacity: 0.7; }
.chart { margin: 0 0 0.8rem; } .plot { position: relative; border: solid var(--line); border-width: 1px 0; padding-left: 4.6rem; } .chart svg { display: block; width: 100%; height: 110px; touch-action: pan-y; cursor: crosshair; }
.chart .line { fill: none; stroke-width: 2; vector-effect: non-scaling-stroke; } .line.pace { stroke: var(--pace); } .line.heartRate { stroke: var(--heart); } .line.elevation { stroke: var(--height); } .line.other { stroke: var(--other); stroke-dasharray: 5 3; }
.cursor { stroke: var(--ink); stroke-width: 1; vector-effect: non-scaling-stroke; }
.plot .high, .plot .low { position: absolute; left: 0; width: 4.3rem; text-align: right; font-size: 0.75rem; color: var(--soft); font-variant-numeric: tabular-nums; } .plot .high { top: 0; } .plot .low { bottom: 0; }
figcaption { font-size: 0.85rem; color: var(--soft); } .readout { font-variant-numeric: tabular-nums; font-weight: 600; } input[type="range"] { accent-color: var(--pace); }
.splits, .commands { list-style: none; margin: 0 0 0.8rem; padding: 0; } .splits li { display: grid; grid-template-columns: 4.2rem minmax(2rem, 1fr) 5rem 4.6rem; gap: 0.4rem; align-items: center; padding: 0.12rem 0; font-variant-numeric: tabular-nums; }
.track { background: var(--paper); border-radius: 6px; } .bar { display: block; height: 1rem; border-radius: 6px; background: var(--pace); } .splits .value { text-align: right; white-space: nowrap; } input#cursor { width: calc(100% - 4.6rem); margin-left: 4.6rem; }
.commands li { padding: 0.35rem 0 0.35rem 0.7rem; border-left: 4px solid var(--soft); margin-bottom: 0.4rem; } .commands small { display: block; color: var(--soft); } .commands .applied { border-color: var(--run); } .commands .rejected { border-color: var(--warn); } .commands .coalesced, .commands .superseded { border-color: var(--hold); }
th, td { text-align: left; padding: 0.35rem 0.5rem; border-bottom: 1px solid var(--line); font-variant-numeric: tabular-nums; vertical-align: top; } td { overflow-wrap: anywhere; } th { white-space: nowrap; font-weight: 600; color: var(--soft); font-size: 0.85rem; }
.scroll { overflow-x: auto; } .tools { display: flex; flex-wrap: wrap; gap: 0.5rem 0.8rem; align-items: center; margin: 0.6rem 0; } .tools input { flex: 1 1 12rem; } .button.ready, .tabs [aria-current] { background: var(--press); color: var(--paper); }
.tabs { display: flex; gap: 0.5rem; margin: 0.6rem 0; } .bars { width: 100%; height: 140px; display: block; } .bars rect { fill: var(--pace); } .ends { display: flex; justify-content: space-between; color: var(--soft); font-size: 0.85rem; } .trend { font-weight: 600; }
.bests { display: grid; grid-template-columns: repeat(auto-fill, minmax(165px, 1fr)); gap: 0.8rem; margin: 0; } .bests dt { font-size: 0.85rem; color: var(--soft); } .bests dd { margin: 0; font-weight: 600; white-space: nowrap; }
.empty { color: var(--soft); } .when, .owner { color: var(--soft); } .owner { white-space: pre-wrap; } .key { display: inline-block; width: 1.4rem; border-top: 3px solid var(--pace); margin-right: 0.4rem; vertical-align: middle; } .key.other { border-top-style: dashed; border-color: var(--other); }
@media (max-width: 760px) { .top, .picture { grid-template-columns: minmax(0, 1fr); } .wide { display: none; } main { padding: 0.7rem; } header { padding: 0.5rem 0.7rem; } .card .timer { font-size: 3rem; } .splits li { grid-template-columns: 3.6rem 1fr 5rem; } .splits .value:last-child { display: none; } }
@media (prefers-reduced-motion: no-preference) { .bar { transition: width 0.3s; } }
@media print { header, .told, input[type="range"] { display: none; } body { background: #fff; } .panel { break-inside: avoid; } }

"""#

  static let page_js = #"""
// The page: chooses the view by the address, and holds the switches. One file of a record is made of these modules in the
// order words.js, format.js, element.js, api.js, charts.js, live.js, records.js, page.js.
import { element } from "./element.js";
import { choices, choose, loadChoices, word } from "./format.js";
import { showLive } from "./live.js";
import { drawRecord, showComparison, showRecord, showRecords, showStatistics } from "./records.js";

const main = document.getElementById("main");
const banner = document.getElementById("banner");
const told = document.getElementById("told");
const tiles = document.documentElement.dataset.tiles || null;
const file = document.getElementById("record");
let leave = null;
let visit = 0;

function tell(text) { told.textContent = text; }

function applyChoices() {
  document.documentElement.lang = choices.language;
  document.documentElement.dataset.theme = choices.theme;
  for (const node of document.querySelectorAll("[data-word]")) node.textContent = word(node.dataset.word);
  for (const node of document.querySelectorAll("[data-label]")) node.setAttribute("aria-label", word(node.dataset.label));
  document.getElementById("language").textContent = word("languageSwitch");
  document.getElementById("language").lang = choices.language === "ko" ? "en" : "ko";
  document.getElementById("units").textContent = word(choices.units === "mi" ? "unitsMi" : "unitsKm");
  document.getElementById("theme").textContent = word({ auto: "themeAuto", light: "themeLight", dark: "themeDark" }[choices.theme]);
}

async function show() {
  visit += 1;
  const mine = visit;
  if (leave) leave();
  leave = null;
  const [view, ...rest] = location.hash.replace(/^#\/?/, "").split("/");
  for (const link of document.querySelectorAll("nav a")) {
    const isHere = link.getAttribute("href") === `#/${view}`;
    if (isHere) link.setAttribute("aria-current", "page"); else link.removeAttribute("aria-current");
  }
  if (file) return drawRecord(main, JSON.parse(file.textContent), tiles, false);
  if (view === "") {
    leave = showLive(main, tell, banner, tiles);
    return;
  }
  // A view is drawn into a box of its own: an answer that comes after the reader went on is dropped with it.
  const box = element("div", {}, element("p", { class: "empty" }, word("loading")));
  main.replaceChildren(box);
  try {
    if (view === "records" && rest[0]) await showRecord(box, rest[0], tiles);
    else if (view === "records") await showRecords(box);
    else if (view === "compare" && rest[1]) await showComparison(box, rest[0], rest[1]);
    else if (view === "stats") await showStatistics(box, ["week", "month", "year"].includes(rest[0]) ? rest[0] : "month");
    else location.hash = "#/";
  } catch (error) {
    if (mine === visit) box.replaceChildren(element("p", { class: "empty", role: "alert" }, word("failed", { reason: error.message })));
  }
}

document.getElementById("language").addEventListener("click", () => {
  choose("language", choices.language === "ko" ? "en" : "ko");
  applyChoices();
  show();
});
document.getElementById("units").addEventListener("click", () => {
  choose("units", choices.units === "mi" ? "km" : "mi");
  applyChoices();
  show();
});
document.getElementById("theme").addEventListener("click", () => {
  choose("theme", { auto: "light", light: "dark", dark: "auto" }[choices.theme]);
  applyChoices();
});
window.addEventListener("hashchange", () => { tell(""); show(); main.focus(); });
loadChoices();
applyChoices();
if (file) for (const node of document.querySelectorAll("nav, .skip")) node.remove();
show();

"""#

  static let records_js = #"""
// The runs that are kept: the list, one run, two runs compared, statistics.
import { load } from "./api.js";
import { drawBars, drawComparison, drawRun, drawSplits } from "./charts.js";
import { element } from "./element.js";
import { clock, distance, energy, hasWord, heartRate, height, pace, startOf, word } from "./format.js";

function titleOf(summary) { return summary.title || word("untitled"); }

function bestName(meters) {
  const key = `best_${Math.floor(meters)}`;
  return hasWord(key) ? word(key) : distance(meters);
}

export async function showRecords(main) {
  const { records } = await load("/api/records");
  const search = element("input", { type: "search", id: "search" });
  const sort = element("select", { id: "sort" }, ["date", "distance", "pace"].map((name) => element("option", { value: name }, word("sort_" + name))));
  const count = element("p", { class: "count", role: "status" });
  const compare = element("a", { class: "button", href: "#/records" }, word("compareHint"));
  const body = element("tbody");
  const chosen = new Set();
  function update() {
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    const shown = records.filter((record) => {
      const text = [record.title, record.note, startOf(record), record.startedAt, record.deviceId].join(" ").toLowerCase();
      return words.every((one) => text.includes(one));
    });
    const value = {
      date: (record) => -record.startedAtUnixSeconds, distance: (record) => -(record.distanceMeters || 0),
      pace: (record) => record.averagePaceSecondsPerKilometer || Infinity,
    }[sort.value];
    shown.sort((a, b) => value(a) - value(b));
    count.textContent = records.length === 0 ? word("noRecords") : shown.length === 0 ? word("noMatch") : word("runCount", { count: shown.length });
    body.replaceChildren(...shown.map((record) => element(
      "tr", {},
      element("td", { class: "wide" }, startOf(record)),
      element("td", {}, element("a", { href: `#/records/${record.runId}` }, titleOf(record)), record.conflicted ? element("small", {}, ` ${word("conflicted")}`) : null),
      element("td", {}, distance(record.distanceMeters)), element("td", {}, clock(record.activeSeconds)),
      element("td", { class: "wide" }, pace(record.averagePaceSecondsPerKilometer)), element("td", { class: "wide" }, heartRate(record.averageHeartRateBpm)),
      element("td", {}, element("input", {
        type: "checkbox", "aria-label": word("chooseRun", { title: `${titleOf(record)}, ${startOf(record)}` }), ...(chosen.has(record.runId) ? { checked: true } : {}),
        onchange: (event) => {
          if (event.target.checked) chosen.add(record.runId); else chosen.delete(record.runId);
          updateCompare();
        },
      })))));
  }
  function updateCompare() {
    const two = [...chosen];
    const isReady = two.length === 2;
    compare.textContent = isReady ? word("compareChosen") : word("compareHint");
    compare.href = isReady ? `#/compare/${two[0]}/${two[1]}` : "#/records";
    compare.classList.toggle("ready", isReady);
  }
  search.addEventListener("input", update);
  sort.addEventListener("change", update);
  update();
  updateCompare();
  main.replaceChildren(
    element("h1", {}, word("records")),
    element(
      "div", { class: "tools" }, element("label", { for: "search" }, word("search")), search,
      element("label", { for: "sort" }, word("sortBy")), sort, compare),
    count,
    element("div", { class: "panel scroll", tabindex: 0, role: "region", "aria-label": word("records") }, element(
      "table", {}, element("thead", {}, element(
        "tr", {}, element("th", { scope: "col", class: "wide" }, word("date")), element("th", { scope: "col" }, word("title")), element("th", { scope: "col" }, word("distance")),
        element("th", { scope: "col" }, word("time")), element("th", { scope: "col", class: "wide" }, word("pace")), element("th", { scope: "col", class: "wide" }, word("heartRate")), element("th", { scope: "col" }, word("choose")))), body)));
}

/// The samples of a record with their run time.
function samplesOf(record) {
  return record.series.samples.map((sample, index) => ({ offsetSeconds: index * record.series.intervalSeconds, ...sample }));
}

function pointsOf(record) {
  return record.route.filter((point) => point.counted).map((point) => [
    point.offsetSeconds, point.latitude, point.longitude, point.distanceMeters, point.altitudeMeters, point.startsLine ? 1 : 0,
  ]);
}

function numbersOf(record) {
  const { summary, report } = record;
  return [
    ["distance", distance(summary.distanceMeters)], ["activeTime", clock(summary.activeSeconds)], ["elapsed", clock(summary.elapsedSeconds)],
    ["averagePace", pace(summary.averagePaceSecondsPerKilometer)], ["averageHeartRate", heartRate(summary.averageHeartRateBpm)],
    ["climbed", height(summary.elevationGainMeters)], ["energy", energy(summary.energyJoules)], ["laps", String(report.metrics.lapCount)],
  ];
}

export function drawRecord(main, record, tiles, hasWay) {
  const { summary } = record;
  const bests = summary.bests || [];
  main.replaceChildren(
    hasWay ? element("p", { class: "way" }, element("a", { href: "#/records" }, word("backToRecords"))) : "",
    element("h1", {}, titleOf(summary)), element("p", { class: "when" }, startOf(summary)),
    summary.note ? element("p", { class: "owner" }, summary.note) : "",
    element("dl", { class: "numbers panel" }, numbersOf(record).map(([name, value]) => element("div", { class: "metric" }, element("dt", {}, word(name)), element("dd", {}, value)))),
    drawRun(pointsOf(record), samplesOf(record), Math.max(1, summary.elapsedSeconds), tiles, { share: 0 }),
    element(
      "div", { class: "columns" },
      element("section", { class: "panel" }, element("h2", {}, word("splits")), drawSplits(record.report, false)),
      record.report.laps.length ? element("section", { class: "panel" }, element("h2", {}, word("laps")), drawSplits(record.report, true)) : "",
      bests.length ? element("section", { class: "panel" }, element("h2", {}, word("bestsOfRun")), element(
        "dl", { class: "bests" }, bests.map((best) => element("div", {}, element("dt", {}, bestName(best.distanceMeters)), element("dd", {}, `${clock(best.activeSeconds)} · ${pace(best.activeSeconds / best.distanceMeters * 1000)}`))))) : ""));
}

export async function showRecord(main, id, tiles) { drawRecord(main, await load(`/api/records/${id}`), tiles, true); }

export async function showComparison(main, firstID, secondID) {
  const [first, second] = await Promise.all([load(`/api/records/${firstID}`), load(`/api/records/${secondID}`)]);
  const rows = [
    ["distance", "distanceMeters", distance], ["activeTime", "activeSeconds", clock], ["averagePace", "averagePaceSecondsPerKilometer", pace],
    ["averageHeartRate", "averageHeartRateBpm", heartRate], ["climbed", "elevationGainMeters", height],
  ];
  const difference = (name, text) => {
    const [a, b] = [first.summary[name], second.summary[name]];
    if (typeof a !== "number" || typeof b !== "number") return "–";
    return `${b < a ? "−" : "+"}${text(Math.abs(b - a))}`;
  };
  const name = (run, other) => element("th", { scope: "col" }, element("span", { class: `key ${other ? "other" : ""}`, "aria-hidden": "true" }), element("a", { href: `#/records/${run.summary.runId}` }, titleOf(run.summary)), element("br"), startOf(run.summary));
  const splits = Math.max(first.report.kilometers.length, second.report.kilometers.length);
  const splitOf = (run, index) => pace(run.report.kilometers[index] && run.report.kilometers[index].paceSecondsPerKilometer);
  main.replaceChildren(
    element("p", { class: "way" }, element("a", { href: "#/records" }, word("backToRecords"))),
    element("h1", {}, word("compareTitle")),
    element("div", { class: "panel scroll", tabindex: 0, role: "region", "aria-label": word("compareTitle") }, element(
      "table", {}, element("thead", {}, element("tr", {}, element("td"), name(first, false), name(second, true), element("th", { scope: "col" }, word("difference")))),
      element("tbody", {}, rows.map(([title, key, text]) => element(
        "tr", {}, element("th", { scope: "row" }, word(title)), element("td", {}, text(first.summary[key])), element("td", {}, text(second.summary[key])), element("td", {}, difference(key, text))))))),
    element("section", { class: "panel" }, element("h2", {}, word("overDistance")), drawComparison(first, second)),
    element("section", { class: "panel" }, element("h2", {}, word("splits")), element(
      "table", {}, element("thead", {}, element("tr", {}, element("td"), element("th", { scope: "col" }, word("first")), element("th", { scope: "col" }, word("second")))),
      element("tbody", {}, Array.from({ length: splits }, (_, index) => element("tr", {}, element("th", { scope: "row" }, String(index + 1)), element("td", {}, splitOf(first, index)), element("td", {}, splitOf(second, index))))))));
}

export async function showStatistics(main, unit) {
  const statistics = await load(`/api/stats?by=${unit}`);
  const { periods, bests, longest, trend } = statistics;
  const tabs = element("div", { class: "tabs" }, ["week", "month", "year"].map((name) => element(
    "a", { href: `#/stats/${name}`, class: "button", ...(name === unit ? { "aria-current": "true" } : {}) }, word("by_" + name))));
  const ran = periods.filter((period) => period.count > 0);
  if (!ran.length) {
    main.replaceChildren(element("h1", {}, word("statistics")), tabs, element("p", { class: "empty" }, word("noRecords")));
    return;
  }
  let sentence = "";
  if (trend && trend.distanceMetersPerPeriod > 0) {
    const [mean, count] = [distance(trend.distanceMetersPerPeriod), trend.periods];
    const change = trend.distanceMetersPerPeriodBefore ? trend.distanceMetersPerPeriod / trend.distanceMetersPerPeriodBefore - 1 : null;
    const percent = change === null ? "" : Math.round(Math.abs(change) * 100);
    sentence = word(change === null ? "trendAlone" : change >= 0 ? "trendMore" : "trendLess", { mean, count, percent });
  }
  const best = (name, one) => element(
    "div", {}, element("dt", {}, name),
    element("dd", {}, element("a", { href: `#/records/${one.runId}` }, name === word("longest") ? distance(one.distanceMeters) : clock(one.activeSeconds)),
      ` · ${pace(one.activeSeconds / one.distanceMeters * 1000)}`));
  main.replaceChildren(
    element("h1", {}, word("statistics")), tabs,
    element("section", { class: "panel" }, element("h2", {}, word("distanceByPeriod")), drawBars(periods), element(
      "p", { class: "ends" }, element("span", {}, periods.slice(-53)[0].period), element("span", {}, periods[periods.length - 1].period)), sentence ? element("p", { class: "trend" }, sentence) : ""),
    element("section", { class: "panel" }, element("h2", {}, word("bests")), element(
      "dl", { class: "bests" }, bests.map((one) => best(bestName(one.distanceMeters), one)), longest ? best(word("longest"), longest) : null)),
    element("div", { class: "panel scroll", tabindex: 0, role: "region", "aria-label": word("statistics") }, element(
      "table", {}, element("thead", {}, element("tr", {}, ["period", "runs", "distance", "activeTime", "pace", "climbed"].map((name) => element("th", { scope: "col" }, word(name))))),
      element("tbody", {}, ran.slice().reverse().map((period) => element(
        "tr", {}, element("th", { scope: "row" }, period.period), [String(period.count), distance(period.distanceMeters), clock(period.activeSeconds), pace(period.averagePaceSecondsPerKilometer), height(period.elevationGainMeters)].map((cell) => element("td", {}, cell))))))));
}

"""#

  static let words_js = #"""
// Every text of the page, in both languages. A name in braces is replaced. A test compares the keys with those in use.

export const words = {
  skip: { en: "Skip to the content", ko: "본문으로 건너뛰기" },
  navigation: { en: "Views", ko: "보기" },
  run: { en: "Run", ko: "달리기" },
  records: { en: "Records", ko: "기록" },
  statistics: { en: "Statistics", ko: "통계" },
  languageSwitch: { en: "한국어", ko: "English" },
  unitsKm: { en: "km", ko: "km" },
  unitsMi: { en: "miles", ko: "마일" },
  themeAuto: { en: "Colours: automatic", ko: "색상: 자동" },
  themeLight: { en: "Colours: light", ko: "색상: 밝게" },
  themeDark: { en: "Colours: dark", ko: "색상: 어둡게" },

  reconnecting: { en: "The page has lost its connection and is connecting again.", ko: "연결이 끊어져 다시 연결하는 중입니다." },
  closed: { en: "This page is not let in. Open the link that busnode web printed, or close another viewer.", ko: "접속할 수 없습니다. busnode web이 출력한 링크를 열거나 다른 화면을 닫아 주세요." },
  loading: { en: "Loading", ko: "불러오는 중" },
  failed: { en: "This could not be loaded: {reason}", ko: "불러오지 못했습니다: {reason}" },

  lockScreen: { en: "Lock screen", ko: "잠금 화면" },
  island: { en: "Live activity, short form", ko: "실시간 현황, 간단히" },
  noActivity: { en: "No run yet", ko: "아직 달리기가 없습니다" },
  phase_idle: { en: "Ready", ko: "준비" },
  phase_running: { en: "Running", ko: "달리는 중" },
  phase_paused: { en: "Paused", ko: "일시 정지" },
  phase_completed: { en: "Finished", ko: "완료" },
  phase_unknown: { en: "Unknown", ko: "알 수 없음" },
  recovering: { en: "Waits for a decision about the run", ko: "달리기를 어떻게 할지 결정을 기다립니다" },
  activeTime: { en: "Active time", ko: "운동 시간" },
  distance: { en: "Distance", ko: "거리" },
  pace: { en: "Pace", ko: "페이스" },
  averagePace: { en: "Average pace", ko: "평균 페이스" },
  heartRate: { en: "Heart rate", ko: "심박수" },
  averageHeartRate: { en: "Average heart rate", ko: "평균 심박수" },
  elevation: { en: "Elevation", ko: "고도" },
  climbed: { en: "Climbed", ko: "오른 높이" },
  energy: { en: "Energy", ko: "에너지" },
  laps: { en: "Laps", ko: "랩" },
  elapsed: { en: "Elapsed", ko: "총 시간" },
  staleCard: { en: "No news for {age}", ko: "{age} 동안 소식 없음" },
  hubLost: { en: "The phone is silent: the run may have stopped", ko: "휴대폰 응답 없음: 달리기가 멈췄을 수 있습니다" },
  hubAway: { en: "The phone was ended: this is its last state", ko: "휴대폰이 종료되었습니다. 마지막 상태입니다" },
  hubUnreachable: { en: "The phone is out of reach: presses wait here", ko: "휴대폰에 연결할 수 없습니다. 누른 버튼은 여기서 기다립니다" },
  refused: { en: "The phone does not let this page in: {reason}", ko: "휴대폰이 이 페이지를 거부했습니다: {reason}" },
  changedBy: { en: "by {source}", ko: "{source}에서" },
  pendingCard: { en: "{command} waits", ko: "{command} 대기 중" },
  pushLine: { en: "Push {number}, {kind}; {left} left", ko: "푸시 {number}, {kind}, 남은 횟수 {left}" },
  push_phase: { en: "phase", ko: "상태" },
  push_final: { en: "end", ko: "종료" },
  push_pending: { en: "press", ko: "버튼" },
  push_numbers: { en: "numbers", ko: "숫자" },
  push_alive: { en: "still there", ko: "연결 확인" },
  push_renewal: { en: "renewal", ko: "갱신" },
  push_unknown: { en: "other", ko: "기타" },

  command_start: { en: "Start", ko: "시작" },
  command_pause: { en: "Pause", ko: "일시 정지" },
  command_resume: { en: "Resume", ko: "계속" },
  command_stop: { en: "Stop", ko: "정지" },
  command_lap: { en: "Lap", ko: "랩" },
  verdict_pending: { en: "{command} waits for its verdict", ko: "{command}: 판정을 기다립니다" },
  verdict_queued: { en: "{command} waits here for the phone", ko: "{command}: 휴대폰을 기다립니다" },
  verdict_applied: { en: "{command} took effect", ko: "{command}: 적용됨" },
  verdict_coalesced: { en: "{command} was already asked for and counts once", ko: "{command}: 이미 요청되어 한 번만 셉니다" },
  verdict_superseded: { en: "{command} was undone by a later press", ko: "{command}: 나중에 누른 버튼으로 취소됨" },
  verdict_rejected: { en: "{command} was rejected", ko: "{command}: 거절됨" },
  verdict_unknown: { en: "{command} has a verdict that this version does not know", ko: "{command}: 알 수 없는 판정" },
  reason_illegal: { en: "the run is: {phase}", ko: "현재 상태: {phase}" },
  reason_otherRun: { en: "it was meant for another run", ko: "다른 달리기를 위한 것입니다" },
  reason_staleRevision: { en: "the run had changed meanwhile", ko: "그 사이에 달리기가 바뀌었습니다" },
  reason_tooOld: { en: "it is too old", ko: "너무 오래되었습니다" },
  reason_busy: { en: "the phone is busy", ko: "휴대폰이 바쁩니다" },
  reason_cancelled: { en: "it was cancelled", ko: "취소되었습니다" },
  reason_expired: { en: "it has expired", ko: "만료되었습니다" },
  reason_other: { en: "reason: {reason}", ko: "이유: {reason}" },
  pressFailed: { en: "{command} was not taken: {reason}", ko: "{command}: 처리되지 않음: {reason}" },

  controls: { en: "Controls", ko: "조작" },
  now: { en: "Now", ko: "지금" },
  route: { en: "Route", ko: "경로" },
  charts: { en: "Charts", ko: "그래프" },
  cursor: { en: "Moment of the run", ko: "달리기의 시점" },
  noRoute: { en: "No positions yet", ko: "아직 위치 정보가 없습니다" },
  noChart: { en: "Not enough values for a chart", ko: "그래프를 그릴 값이 부족합니다" },
  routeWords: { en: "Route of {distance}", ko: "{distance} 경로" },
  paceWords: { en: "Fastest {low} at {lowAt}, slowest {high} at {highAt}", ko: "가장 빠름 {low} ({lowAt}), 가장 느림 {high} ({highAt})" },
  rangeWords: { en: "Lowest {low} at {lowAt}, highest {high} at {highAt}", ko: "최저 {low} ({lowAt}), 최고 {high} ({highAt})" },
  splits: { en: "Splits", ko: "구간" },
  noSplits: { en: "No splits yet", ko: "아직 구간이 없습니다" },
  lapName: { en: "Lap {number}", ko: "랩 {number}" },
  devices: { en: "Devices", ko: "기기" },
  device: { en: "Device", ko: "기기" },
  state: { en: "State", ko: "상태" },
  here: { en: "here", ko: "연결됨" },
  gone: { en: "gone", ko: "끊김" },
  roundTrip: { en: "Round trip", ko: "왕복 시간" },
  waiting: { en: "Waiting", ko: "대기" },
  heard: { en: "Heard", ko: "마지막 응답" },
  ago: { en: "{age} ago", ko: "{age} 전" },
  noDevices: { en: "No other device yet", ko: "아직 다른 기기가 없습니다" },
  commands: { en: "Commands", ko: "명령" },
  noCommands: { en: "No presses yet", ko: "아직 누른 버튼이 없습니다" },
  fromDevice: { en: "{device}, {source}, {time}", ko: "{device}, {source}, {time}" },
  source_phone: { en: "phone", ko: "휴대폰" },
  source_watch: { en: "watch", ko: "시계" },
  source_liveActivity: { en: "lock screen", ko: "잠금 화면" },
  source_shell: { en: "shell", ko: "셸" },
  source_page: { en: "page", ko: "페이지" },

  search: { en: "Search title, note, date and device", ko: "제목, 메모, 날짜, 기기 검색" },
  sortBy: { en: "Sort by", ko: "정렬" },
  sort_date: { en: "date", ko: "날짜" },
  sort_distance: { en: "distance", ko: "거리" },
  sort_pace: { en: "pace", ko: "페이스" },
  date: { en: "Date", ko: "날짜" },
  title: { en: "Title", ko: "제목" },
  untitled: { en: "Run", ko: "달리기" },
  choose: { en: "Compare", ko: "비교" },
  chooseRun: { en: "Compare {title}", ko: "{title} 비교에 넣기" },
  compareChosen: { en: "Compare the two chosen runs", ko: "선택한 두 달리기 비교" },
  compareHint: { en: "Choose two runs to compare them.", ko: "비교할 달리기 두 개를 선택하세요." },
  noRecords: { en: "No runs yet: a run is kept when it is stopped.", ko: "아직 기록이 없습니다. 달리기를 정지하면 저장됩니다." },
  noMatch: { en: "No run matches.", ko: "일치하는 달리기가 없습니다." },
  runCount: { en: "{count} runs", ko: "달리기 {count}개" },
  conflicted: { en: "overlaps another run", ko: "다른 달리기와 겹침" },
  bests: { en: "Bests", ko: "최고 기록" },
  bestsOfRun: { en: "Fastest stretches", ko: "가장 빠른 구간" },
  best_1000: { en: "1 km", ko: "1 km" },
  best_5000: { en: "5 km", ko: "5 km" },
  best_10000: { en: "10 km", ko: "10 km" },
  best_21097: { en: "Half marathon", ko: "하프 마라톤" },
  best_42195: { en: "Marathon", ko: "마라톤" },
  longest: { en: "Longest run", ko: "가장 긴 달리기" },
  time: { en: "Time", ko: "시간" },
  backToRecords: { en: "All records", ko: "모든 기록" },
  compareTitle: { en: "Two runs compared", ko: "두 달리기 비교" },
  difference: { en: "Difference", ko: "차이" },
  first: { en: "First", ko: "첫째" },
  second: { en: "Second", ko: "둘째" },
  overDistance: { en: "Over distance", ko: "거리에 따라" },
  compareWords: { en: "{name} of both runs over distance", ko: "거리에 따른 두 달리기의 {name}" },
  period: { en: "Period", ko: "기간" },
  by_week: { en: "Weeks", ko: "주" },
  by_month: { en: "Months", ko: "월" },
  by_year: { en: "Years", ko: "년" },
  runs: { en: "Runs", ko: "달리기" },
  distanceByPeriod: { en: "Distance by period", ko: "기간별 거리" },
  barsWords: { en: "{count} periods, most {most} in {period}", ko: "기간 {count}개, 최대 {most} ({period})" },
  trendMore: { en: "{mean} a period over the last {count}, {percent} % more than in the {count} before", ko: "최근 {count}개 기간 평균 {mean}, 이전보다 {percent} % 많음" },
  trendLess: { en: "{mean} a period over the last {count}, {percent} % less than in the {count} before", ko: "최근 {count}개 기간 평균 {mean}, 이전보다 {percent} % 적음" },
  trendAlone: { en: "{mean} a period over the last {count}", ko: "최근 {count}개 기간 평균 {mean}" },
};

"""#
}
