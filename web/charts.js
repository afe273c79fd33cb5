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
