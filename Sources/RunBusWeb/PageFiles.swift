// Written by scripts/embed-page from the folder web. Do not edit.

// swift-format-ignore-file

/// The files of the page.
enum PageFiles {
  /// A file's text and content type; `nil` for another name.
  static func file(_ name: String) -> (text: String, type: String)? {
    switch name {
    case "api.js": (api_js, "text/javascript; charset=utf-8")
    case "axes.js": (axes_js, "text/javascript; charset=utf-8")
    case "bars.js": (bars_js, "text/javascript; charset=utf-8")
    case "charts.js": (charts_js, "text/javascript; charset=utf-8")
    case "element.js": (element_js, "text/javascript; charset=utf-8")
    case "format.js": (format_js, "text/javascript; charset=utf-8")
    case "index.html": (index_html, "text/html; charset=utf-8")
    case "live.js": (live_js, "text/javascript; charset=utf-8")
    case "owner.js": (owner_js, "text/javascript; charset=utf-8")
    case "page.css": (page_css, "text/css; charset=utf-8")
    case "page.js": (page_js, "text/javascript; charset=utf-8")
    case "picture.js": (picture_js, "text/javascript; charset=utf-8")
    case "records.js": (records_js, "text/javascript; charset=utf-8")
    case "room.js": (room_js, "text/javascript; charset=utf-8")
    case "route.js": (route_js, "text/javascript; charset=utf-8")
    case "samples.js": (samples_js, "text/javascript; charset=utf-8")
    case "words.js": (words_js, "text/javascript; charset=utf-8")
    default: nil
    }
  }

  /// The modules, each behind those that it uses.
  static let modules = [api_js, axes_js, words_js, format_js, element_js, bars_js, samples_js, charts_js, route_js, picture_js, room_js, live_js, owner_js, records_js, page_js]

  static let api_js = #"""
// Requests to the server that served the page.

/// An error that names the status of the answer.
function refusalOf(response, body) {
  const error = new Error(body && body.error ? body.error.message : `${response.status}`);
  error.status = response.status;
  return error;
}

/// The JSON of an address; throws a sentence for people.
export async function load(path) {
  const response = await fetch(path, { headers: { Accept: "application/json" } });
  const body = await response.json().catch(() => null);
  if (!response.ok) throw refusalOf(response, body);
  return body;
}

/// Sends a change and returns the answer; throws a sentence for people.
export async function send(path, change) {
  const response = await fetch(path, {
    method: "POST", signal: AbortSignal.timeout(10000), headers: { "Content-Type": "application/json" }, body: JSON.stringify(change),
  });
  const body = await response.json().catch(() => null);
  if (!response.ok || !body) throw refusalOf(response, body);
  return body;
}

/// Presses a button and returns what became of it, as a receipt.
export async function press(command, source) { return send("/api/press", { command, source }); }

/// A file that the server makes, as a browser saves it; throws a sentence for people.
export async function download(path, name) {
  const response = await fetch(path);
  if (!response.ok) throw refusalOf(response, await response.json().catch(() => null));
  const address = URL.createObjectURL(await response.blob());
  const link = document.createElement("a");
  [link.href, link.download] = [address, name];
  link.click();
  // The browser has begun to save it by then.
  setTimeout(() => URL.revokeObjectURL(address), 60_000);
}

/// Follows the present run: `onView` gets each view, `onState` whether the stream is `open`, `opening`, `full` (too many
/// viewers) or `refused` (no cookie). A stream that the server refused is tried again every ten seconds.
export function follow(onView, onState) {
  let source = null;
  let timer = null;
  let isEnded = false;
  // EventSource does not tell why it was refused, so another request asks for it.
  async function explain() {
    const request = new AbortController();
    let state = "opening";
    try {
      const response = await fetch("/events", { signal: request.signal });
      if (response.status === 403) state = "refused";
      else if (!response.ok && (await response.json()).error.code === "viewers") state = "full";
    } catch { /* the server does not answer */ }
    request.abort();
    if (!isEnded && source.readyState === EventSource.CLOSED) onState(state);
  }
  function open() {
    source = new EventSource("/events");
    source.addEventListener("open", () => onState("open"));
    source.addEventListener("view", (event) => onView(JSON.parse(event.data)));
    source.addEventListener("error", () => {
      if (source.readyState !== EventSource.CLOSED) return onState("opening");
      timer = setTimeout(open, 10000);
      return explain();
    });
  }
  // A browser opens at most six connections to a server. A hidden tab closes its stream, so that visible tabs can connect.
  function change() {
    clearTimeout(timer);
    if (source) source.close();
    if (!isEnded && document.visibilityState !== "hidden") open();
  }
  document.addEventListener("visibilitychange", change);
  change();
  return () => {
    isEnded = true;
    document.removeEventListener("visibilitychange", change);
    change();
  };
}

"""#

  static let axes_js = #"""
// Axes whose ends and lines are round: 1, 2 or 5 times a power of ten, and round minutes and seconds.

/// Steps of paces and times, seconds.
const timeSteps = [1, 2, 5, 10, 15, 20, 30, 60, 120, 300, 600, 900, 1200, 1800, 3600, 7200, 10_800, 21_600, 43_200, 86_400];
/// The shortest step of a pace: nobody runs by single seconds.
const paceStep = 5;
/// From this length on the lines of a time axis are whole minutes, seconds.
const minutesFrom = 180;

/// The smallest of 1, 2 and 5 times a power of ten that is not less than a number.
function decimalStep(least) {
  const power = 10 ** Math.floor(Math.log10(least) + 1e-9);
  return [1, 2, 5, 10].map((many) => many * power).find((step) => step >= least * (1 - 1e-9));
}

function timeStep(least, shortest) {
  return timeSteps.find((step) => step >= shortest && step >= least * (1 - 1e-9)) || decimalStep(least / 86_400) * 86_400;
}

/// The multiples of a step from one to another.
function multiples(step, from, to) {
  return Array.from({ length: to - from + 1 }, (_, index) => {
    // A step below one is no sum of binary fractions.
    const value = (from + index) * step;
    return Number(value.toPrecision(12));
  });
}

/// An axis of values: its round ends, which hold `low` and `high`, and its lines, `most` spaces between them. `scale` is how
/// many of the numbers that are shown make one of the value.
export function valueAxis(low, high, scale, isTime, most) {
  const [begin, end] = [low * scale, high * scale];
  let step = isTime ? timeStep((end - begin) / most, paceStep) : decimalStep((end - begin) / most);
  const ends = () => [Math.floor(begin / step + 1e-9), Math.ceil(end / step - 1e-9)];
  // Ends that are made round can need one more space.
  while (ends()[1] - ends()[0] > most) step = isTime ? timeStep(step * 1.01, paceStep) : decimalStep(step * 1.01);
  const lines = multiples(step, ...ends());
  return { low: lines[0] / scale, high: lines[lines.length - 1] / scale, lines: lines.map((line) => line / scale) };
}

/// The lines of an axis that begins at zero and ends where its values do.
export function placeLines(length, scale, isTime, most) {
  const end = length * scale;
  const step = isTime ? timeStep(end / most, end >= minutesFrom ? 60 : 1) : decimalStep(end / most);
  return multiples(step, 0, Math.floor(end / step + 1e-9)).map((line) => line / scale);
}

"""#

  static let bars_js = #"""
// Bars: the splits and laps of a run, and the distances of weeks, months and years.
import { valueAxis } from "./axes.js";
import { choices, distance, heartRate, height, isKnown, isPace, pace, periodName, roundDistance, unitMeters, word } from "./format.js";
import { drawing, element } from "./element.js";

const barsWidth = 800;
const barsHeight = 120;

/// The shortest bar of a split, of 100: that of the slowest.
const barLeast = 10;

/// What makes the length of a bar of a pace: the slowest has the shortest bar, and the fastest the longest. One that is much slower
/// than the usual one, as on foot, would make all others alike; it has the shortest bar, too, and so has all that is slower.
function lengthsOf(paces) {
  const ordered = [...paces].sort((a, b) => a - b);
  const [fastest, slowest] = [ordered[0], Math.min(ordered[ordered.length - 1], ordered[ordered.length >> 1] * 1.6)];
  const lengthOf = (one) => {
    const share = slowest > fastest ? (slowest - one) / (slowest - fastest) : 1;
    return barLeast + (100 - barLeast) * Math.max(0, Math.min(1, share));
  };
  return { fastest, slowest, lengthOf };
}

/// How much a split climbs and falls: `+12 −8 m`; nothing where neither is known.
function climbOf({ elevationGainMeters, elevationLossMeters }) {
  const parts = [["+", elevationGainMeters], ["−", elevationLossMeters]].filter(([, meters]) => isKnown(meters)).map(([sign, meters]) => sign + height(Math.max(0, meters)));
  // The unit stands once.
  return parts.map((part, index) => (index < parts.length - 1 ? part.split(" ")[0] : part)).join(" ");
}

/// Splits as bars, or laps: a longer bar is faster.
export function drawSplits(report, laps) {
  const splits = report ? (laps ? report.laps : choices.units === "mi" ? report.miles : report.kilometers) : [];
  if (!splits.length) return element("p", { class: "empty" }, word("noSplits"));
  const known = splits.filter((split) => isPace(split.paceSecondsPerKilometer));
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
  const { slowest, fastest, lengthOf } = lengthsOf((complete.length ? complete : known).map((split) => split.paceSecondsPerKilometer));
  const hasClimb = splits.some((split) => climbOf(split) !== "");
  const list = element("ol", { class: hasClimb ? "splits climbs" : "splits" }, splits.map((split) => {
    const bar = element("span", { class: "bar" });
    bar.style.width = known.includes(split) ? `${lengthOf(split.paceSecondsPerKilometer).toFixed(1)}%` : "0%";
    return element(
      "li", { class: split === fastestSplit ? "best" : split.complete === false ? "open" : null }, element("span", { class: "name" }, name(split)), element("span", { class: "track", "aria-hidden": "true" }, bar),
      element("span", { class: "value" }, pace(split.paceSecondsPerKilometer)), element("span", { class: "value pulse" }, heartRate(split.averageHeartRateBpm)),
      hasClimb ? element("span", { class: "value climb" }, climbOf(split) || "–") : null);
  }));
  return element(
    "div", { class: "fitted" }, list, sentence ? element("p", { class: "words" }, sentence) : null,
    slowest > fastest ? element("p", { class: "words" }, word("barsBegin", { slow: pace(slowest), fast: pace(fastest) })) : null);
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

/// The distances beside the lines of an axis.
function drawDistances(axis) {
  return element("div", { class: "ticks", "aria-hidden": "true" }, axis.lines.map((line) => {
    const label = element("span", {}, roundDistance(line));
    label.style.top = `${(1 - line / axis.high) * 100}%`;
    return label;
  }));
}

/// Bars of distance by period, the mean of the last ones as a line.
export function drawBars(periods, trend) {
  const shown = periods.slice(-barsMax);
  const metersOf = (period) => period.distanceMeters || 0;
  const most = shown.reduce((best, period) => (metersOf(period) > metersOf(best) ? period : best), shown[0]);
  const axis = valueAxis(0, Math.max(1, metersOf(most)), 1 / unitMeters(), false, 4);
  const highest = axis.high;
  const width = barsWidth / Math.max(6, shown.length);
  const yOf = (meters) => barsHeight - meters / highest * barsHeight;
  const bars = shown.map((period, index) => drawing(
    "g", { class: index === shown.length - 1 ? "present" : null },
    drawing("title", {}, `${periodName(period.period)}: ${distance(metersOf(period))}`),
    drawing("rect", { class: "reach", x: index * width, width, y: 0, height: barsHeight }),
    period.count === 0 ? null : drawing("rect", { class: "bar", x: index * width + width * 0.14, width: width * 0.72, y: Math.min(yOf(metersOf(period)), barsHeight - 1), height: Math.max(barsHeight - yOf(metersOf(period)), 1) })));
  // The present period is not over and does not count.
  if (trend && isKnown(trend.distanceMetersPerPeriod) && trend.periods > 0) {
    const end = shown.length - 1;
    const before = trend.distanceMetersPerPeriodBefore;
    const mean = (from, to, meters) => bars.push(drawing("line", { class: "mean", x1: Math.max(0, from) * width, x2: to * width, y1: yOf(meters), y2: yOf(meters) }));
    mean(end - trend.periods, end, trend.distanceMetersPerPeriod);
    if (isKnown(before)) mean(end - 2 * trend.periods, end - trend.periods, before);
  }
  const grid = axis.lines.slice(1, -1).map((line) => drawing("line", { class: "grid", x1: 0, x2: barsWidth, y1: yOf(line), y2: yOf(line) }));
  const svg = drawing(
    "svg", {
      viewBox: `0 0 ${barsWidth} ${barsHeight}`, preserveAspectRatio: "none", role: "img",
      "aria-label": word("barsWords", { count: shown.length, most: distance(metersOf(most)), period: periodName(most.period) }),
    }, grid, bars);
  const labels = element("p", { class: "names", "aria-hidden": "true" });
  // As many names as have room, the newest first; only the browser knows how wide they are.
  new ResizeObserver(() => {
    for (let every = 1; every <= shown.length && !placeNames(labels, shown, every, width / barsWidth); every += 1);
  }).observe(labels);
  return element(
    "div", { class: "bars" }, drawDistances(axis), svg, labels);
}

"""#

  static let charts_js = #"""
// The charts of a run under one cursor.
import { placeLines, valueAxis } from "./axes.js";
import { difference, isKnown, word } from "./format.js";
import { boundsOf, kinds, sampleAt, valueOf } from "./samples.js";
import { drawing, element, setText } from "./element.js";

const chartWidth = 800;
const chartHeight = 120;
/// The most spaces between the lines of a chart, up and across.
const spacesMost = 6;
const placesMost = 6;

/// A chart of one value with a line for each run. `onMove` is called with a place on its axis when a pointer is over it.
function makeChart(kind, onMove) {
  const value = element("span", { class: "value" });
  const marks = element("div", { class: "ticks", "aria-hidden": "true" });
  const cursor = drawing("line", { class: "cursor", y1: 0, y2: chartHeight, x1: 0, x2: 0 });
  const drawn = drawing("g");
  const svg = drawing("svg", { viewBox: `0 0 ${chartWidth} ${chartHeight}`, preserveAspectRatio: "none", role: "img" }, drawn, cursor);
  const dots = element("div", { class: "dots", "aria-hidden": "true" });
  const plot = element("div", { class: "plot" }, marks, svg, dots);
  const caption = element("figcaption");
  const nothing = element("p", { class: "empty" }, word("noChart"));
  const node = element(
    "figure", { class: `chart ${kind.name}` }, element("div", { class: "head" }, element("h3", {}, word(kind.name)), value), plot, nothing, caption);
  let [lines, domain, bounds, average] = [[], 1, null, ""];

  function move(event) {
    if (event.pointerType === "touch" && event.type === "pointermove" && !event.isPrimary) return;
    const box = svg.getBoundingClientRect();
    onMove(Math.min(1, Math.max(0, (event.clientX - box.left) / box.width)) * domain);
  }
  svg.addEventListener("pointermove", move);
  svg.addEventListener("pointerdown", move);

  const shareOf = (number) => {
    const share = Math.min(1, Math.max(0, (number - bounds.low) / (bounds.high - bounds.low)));
    return kind.inverted ? share : 1 - share;
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
    /// `runs` are lists of samples with their `places` on the axis and the longest `gap` that a line crosses; `bands` are stretches of
    /// the axis that are shaded, and `across` are its lines. `heading` stands over the chart until a place is chosen.
    update(runs, length, bands, sentence, across, heading) {
      node.hidden = !runs.some((run) => run.samples.length > 1);
      domain = Math.max(1e-9, length);
      lines = runs.map(({ samples, places, gap }) => {
        const values = samples.map((sample) => valueOf(kind, sample));
        // A line without a longest gap is one over distance: it does not go on behind the end of its run.
        return { places, gap, values, last: values.findLastIndex(isKnown), reach: isFinite(gap) ? gap : domain / 50 };
      });
      average = heading;
      const extremes = boundsOf(lines.flatMap((line) => line.values), kind.smallest, kind.inverted);
      bounds = extremes && valueAxis(extremes.low, extremes.high, kind.scale(), kind.isTime, spacesMost);
      plot.hidden = !bounds;
      nothing.hidden = bounds !== null;
      setText(caption, bounds ? sentence : "");
      if (!bounds) { setText(value, ""); return; }
      svg.setAttribute("aria-label", sentence ? `${word(kind.name)}. ${sentence}` : word(kind.name));
      const highest = kind.inverted ? bounds.low : bounds.high;
      marks.replaceChildren(...bounds.lines.map((line) => {
        // The unit stands once, at the top.
        const text = kind.text(line);
        const label = element("span", {}, line === highest ? text : text.split(" ")[0]);
        label.style.top = `${shareOf(line) * 100}%`;
        return label;
      }));
      const shapes = bands.map((band) => drawing("rect", {
        class: "band", x: band.from / domain * chartWidth, width: Math.max(2, (band.to - band.from) / domain * chartWidth), y: 0, height: chartHeight,
      }));
      for (const line of across) {
        shapes.push(drawing("line", { class: "grid", x1: line / domain * chartWidth, x2: line / domain * chartWidth, y1: 0, y2: chartHeight }));
      }
      for (const line of bounds.lines.slice(1, -1)) {
        shapes.push(drawing("line", { class: "grid", x1: 0, x2: chartWidth, y1: shareOf(line) * chartHeight, y2: shareOf(line) * chartHeight }));
      }
      lines.forEach((line, index) => {
        const [path, area] = pathsOf(line);
        if (lines.length === 1) shapes.push(drawing("path", { class: "area", d: area }));
        shapes.push(drawing("path", { class: index ? "line second" : "line", d: path }));
      });
      drawn.replaceChildren(...shapes);
    },
    /// Moves the cursor, or takes it away with `null`; returns what the lines have there.
    show(at) {
      cursor.toggleAttribute("hidden", at === null);
      if (at === null) {
        dots.replaceChildren();
        setText(value, bounds ? average : "");
        return [];
      }
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

/// Charts under one cursor: a slider that arrow keys move, a line that says the values, and the charts. Until a place is chosen
/// the charts have their averages over them. `describe` makes the line of a place, `null` for none, and of what the first lines of
/// the charts have there.
export function makeCharts(label, describe, onShow) {
  const readout = element("p", { class: "readout" });
  const whole = element("button", { type: "button", class: "whole", title: word("showAverages"), onclick: () => choose(false) }, word("showAll"));
  const slider = element("input", { type: "range", min: 0, max: 1, step: 1, id: "cursor", "aria-label": label });
  const axis = element("p", { class: "axis", "aria-hidden": "true" });
  let isChosen = false;
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
    isChosen = true;
    show();
  }
  function choose(isPlace) {
    isChosen = isPlace;
    if (!isPlace) slider.value = 0;
    show();
    if (!isPlace) slider.focus();
  }
  function show() {
    const at = !isChosen ? null : place === null && veryEnd !== null ? veryEnd : Number(slider.value);
    const text = describe(at, charts.map((chart) => chart.show(at)[0]));
    setText(readout, text);
    slider.setAttribute("aria-valuetext", text);
    slider.classList.toggle("resting", !isChosen);
    slider.style.setProperty("--share", `${length() ? Number(slider.value) / length() * 100 : 0}%`);
    whole.classList.toggle("unseen", !isChosen);
    onShow(at);
  }
  slider.addEventListener("input", () => move(Number(slider.value)));
  // Where the slider is already it tells of no input.
  slider.addEventListener("click", () => move(Number(slider.value)));
  slider.addEventListener("keydown", (event) => {
    if (event.key === "Home") move(0);
    else if (event.key === "End") move(length());
    else if (event.key === "Escape") choose(false);
    else return;
    event.preventDefault();
  });
  const slide = element("div", { class: "slide" }, whole, slider);
  const nothing = element("p", { class: "empty" }, word("noChart"));
  return {
    node: element("div", { class: "charts" }, readout, slide, nothing, charts.map((chart) => chart.node)),
    move,
    /// `scale`, `isTime` and `text` are those of the axis; `headings` are the averages.
    update(runs, domain, bands, sentences, { scale, isTime, text }, headings) {
      const hasValues = runs.some((run) => run.samples.length > 1);
      [readout.hidden, slide.hidden, nothing.hidden] = [!hasValues, !hasValues, hasValues];
      const end = Math.max(1, domain);
      veryEnd = runs.length === 1 ? end : null;
      // The last whole second or metre: a run of 18:49.6 has no 18:50.
      slider.max = Math.floor(end);
      slider.step = Math.max(1, Math.round(end / 500));
      slider.value = isChosen ? place ?? slider.max : 0;
      const lines = placeLines(end, scale, isTime, placesMost);
      charts.forEach((chart, index) => chart.update(runs, end, bands, sentences[index], lines, headings[index]));
      axis.replaceChildren(...lines.map((line) => {
        const label = element("span", { class: line / end > 0.93 ? "last" : null }, text(line));
        label.style.left = `${line / end * 100}%`;
        return label;
      }));
      show();
    },
  };
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
  for (const child of children.flat(2)) {
    if (child !== null && child !== undefined && child !== false) node.append(child);
  }
  return node;
}

/// Sets a text only when it differs, so that screen readers and the layout are not troubled.
export function setText(node, text) { if (node.textContent !== text) node.textContent = text; }

/// A titled part of a view.
export function panel(title, ...children) {
  return element("section", { class: "panel" }, element("h2", {}, title), ...children);
}

/// A box that scrolls sideways by itself when it is too wide, by keys, too.
export function scroller(name, ...children) {
  return element("div", { class: "panel scroll", tabindex: 0, role: "region", "aria-label": name }, ...children);
}

/// A list of names and values.
export function values(className, pairs) {
  return element("dl", { class: className }, pairs.map(([name, value, kind]) => element(
    "div", { class: kind ? `metric ${kind}` : "metric" }, element("dt", {}, name), element("dd", {}, value))));
}

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
  // A file can say in which units it opens.
  choices.units = document.documentElement.dataset.units || stored("units") || (/^en-(US|LR)|^my/.test(language) ? "mi" : "km");
  choices.theme = stored("theme") || "auto";
}

export function choose(name, value) {
  choices[name] = value;
  try { localStorage.setItem("runbus-" + name, value); } catch { /* a file has no storage in some browsers */ }
}

/// The language tag for numbers and dates: the browser's own where it is of the chosen language.
function locale() {
  const own = navigator.language || "";
  return own.startsWith(choices.language) ? own : choices.language;
}

/// A text in the reader's language, with `{names}` replaced.
export function word(key, values) {
  const text = words[key] ? words[key][choices.language] : key;
  return text.replace(/\{(\w+)\}/g, (all, name) => (values && name in values ? values[name] : all));
}

export function hasWord(key) { return Object.hasOwn(words, key); }

export function isKnown(value) { return typeof value === "number" && isFinite(value); }

const mile = 1609.344;
const foot = 0.3048;

/// The unit of splits and of marks on a route, metres.
export function unitMeters() { return choices.units === "mi" ? mile : 1000; }

/// The unit of heights, metres.
export function heightMeters() { return choices.units === "mi" ? foot : 1; }

/// How many whole steps a value has: what is not shown of distances, paces and times is cut off, as a stopwatch does it. A
/// value that a binary fraction puts just below a whole step counts as that step.
function stepsOf(value, step) { return Math.trunc(value / step + (value < 0 ? -1e-6 : 1e-6)); }

export function clock(seconds) {
  if (!isKnown(seconds)) return "–";
  const all = Math.max(0, stepsOf(seconds, 1));
  const [hours, minutes, rest] = [Math.floor(all / 3600), Math.floor(all / 60) % 60, all % 60];
  const two = (number) => String(number).padStart(2, "0");
  return hours ? `${hours}:${two(minutes)}:${two(rest)}` : `${minutes}:${two(rest)}`;
}

/// A short span: `7 s`, `1:10`.
export function span(seconds) { return seconds < 60 ? word("seconds", { count: stepsOf(seconds, 1) }) : clock(seconds); }

function decimals(value, digits) {
  const scale = 10 ** digits;
  // The sum with zero has no sign.
  return (Math.round(value * scale) / scale + 0).toLocaleString(locale(), { minimumFractionDigits: digits, maximumFractionDigits: digits });
}

export function distance(meters) {
  if (!isKnown(meters)) return "–";
  return `${decimals(stepsOf(meters, unitMeters() / 100) / 100, 2)} ${choices.units === "mi" ? "mi" : "km"}`;
}

/// A distance for an axis, cut to as few digits as the room takes: `12 km`, `1.5 km`, `300 m`.
export function roundDistance(meters) {
  if (!isKnown(meters)) return "–";
  const [value, unit] = [meters / unitMeters(), choices.units === "mi" ? "mi" : "km"];
  if (choices.units !== "mi" && meters > 0 && meters < 1000) return `${stepsOf(meters, 1)} m`;
  const scale = value < 10 ? 100 : value < 30 ? 10 : 1;
  return `${(stepsOf(meters, unitMeters() / scale) / scale).toLocaleString(locale(), { maximumFractionDigits: 2 })} ${unit}`;
}

/// The distance of a result, to the tenth of a metre to which it is compared, in any unit system.
export function exactDistance(meters) { return isKnown(meters) ? `${decimals(meters, 1)} m` : "–"; }

/// Whether a pace is one: an hour or more for a kilometre means standing still.
export function isPace(secondsPerKilometer) { return isKnown(secondsPerKilometer) && secondsPerKilometer >= 0 && secondsPerKilometer < 3600; }

export function pace(secondsPerKilometer) {
  if (!isPace(secondsPerKilometer)) return "–";
  return `${clock(secondsPerKilometer * unitMeters() / 1000)} /${choices.units === "mi" ? "mi" : "km"}`;
}

export function height(meters) {
  if (!isKnown(meters)) return "–";
  return choices.units === "mi" ? `${decimals(meters / foot, 0)} ft` : `${decimals(meters, 0)} m`;
}

export function heartRate(bpm) { return isKnown(bpm) ? `${Math.round(bpm)} bpm` : "–"; }

export function cadence(stepsPerMinute) { return isKnown(stepsPerMinute) ? word("steps", { count: Math.round(stepsPerMinute) }) : "–"; }

export function energy(joules) { return isKnown(joules) ? `${decimals(joules / 4184, 0)} kcal` : "–"; }

export function milliseconds(seconds) { return isKnown(seconds) ? `${decimals(seconds * 1000, 1)} ms` : "–"; }

/// What one unit of the last digit is that a text of a value shows, and how many of them a value is there.
function digitOf(text) {
  const imperial = choices.units === "mi";
  if (text === pace) return [imperial ? 1000 / mile : 1, stepsOf];
  if (text === distance) return [unitMeters() / 100, stepsOf];
  if (text === clock) return [1, stepsOf];
  const step = text === height && imperial ? foot : text === energy ? 4184 : 1;
  return [step, (value) => Math.round(value / step)];
}

/// How a value differs from another, both as they are shown, with its sign; nothing where either is unknown.
export function difference(first, second, text) {
  const isShown = text === pace ? isPace : isKnown;
  if (!isShown(first) || !isShown(second)) return "–";
  const [digit, count] = digitOf(text);
  const digits = count(second, digit) - count(first, digit);
  return `${digits === 0 ? "±" : digits < 0 ? "−" : "+"}${text(Math.abs(digits) * digit)}`;
}

/// A moment by the run's own clock where its offset is known, else by the reader's.
function moment(unixSeconds, utcOffsetSeconds, style) {
  const known = isKnown(utcOffsetSeconds);
  const date = new Date((unixSeconds + (known ? utcOffsetSeconds : 0)) * 1000);
  return date.toLocaleString(locale(), { ...style, ...(known ? { timeZone: "UTC" } : {}) });
}

/// The day and minute at which a run started.
export function startOf(summary) {
  return moment(summary.startedAtUnixSeconds, summary.utcOffsetSeconds, { dateStyle: "medium", timeStyle: "short" });
}

/// The same with the day of the week and the whole month.
export function longStartOf(summary) {
  return moment(summary.startedAtUnixSeconds, summary.utcOffsetSeconds, { dateStyle: "full", timeStyle: "short" });
}

/// The hour of the day at which a run started.
export function hourOf(summary) {
  if (!isKnown(summary.utcOffsetSeconds)) return new Date(summary.startedAtUnixSeconds * 1000).getHours();
  return new Date((summary.startedAtUnixSeconds + summary.utcOffsetSeconds) * 1000).getUTCHours();
}

/// The owner's title of a run; one without it is named after the time of day.
export function titleOf(summary) {
  if (summary.title) return summary.title;
  const hour = hourOf(summary);
  const part = hour < 5 || hour >= 22 ? "night" : hour < 11 ? "morning" : hour < 14 ? "midday" : hour < 18 ? "afternoon" : "evening";
  return word("untitled_" + part);
}

export function dayOf(unixSeconds) { return moment(unixSeconds, null, { dateStyle: "medium" }); }

export function timeOfDay(text) { return new Date(text).toLocaleTimeString(locale()); }

/// The name of a period: `2026-W47`, `2026-11`, `2026`. A short one is for the axis of a drawing; January is its year there, and
/// with `hasYear` the year is named, too.
export function periodName(period, isShort, hasYear) {
  const week = /^(\d+)-W(\d+)$/.exec(period);
  if (week) return word(!isShort ? "weekLong" : hasYear ? "weekShortYear" : "weekShort", { week: Number(week[2]), year: week[1] });
  const month = /^(\d+)-(\d\d)$/.exec(period);
  if (!month) return period;
  const date = new Date(Date.UTC(Number(month[1]), Number(month[2]) - 1, 1));
  if (isShort && date.getUTCMonth() === 0) return month[1];
  const style = !isShort ? { month: "long", year: "numeric" } : hasYear ? { month: "short", year: "numeric" } : { month: "short" };
  return date.toLocaleDateString(locale(), { timeZone: "UTC", ...style });
}

export function sourceName(source) { return hasWord("source_" + source) ? word("source_" + source) : source; }

export function commandName(command) { return hasWord("command_" + command) ? word("command_" + command) : command; }

export function phaseName(phase) { return word("phase_" + (hasWord("phase_" + phase) ? phase : "unknown")); }

/// The name of the sentence that says why a phase does not allow a press.
function illegal({ command, illegalPhase }) {
  if (command === "start" && illegalPhase === "paused") return "illegal_startPaused";
  return hasWord("reason_illegal_" + illegalPhase) ? "illegal_" + illegalPhase : "illegal_unknown";
}

/// What became of a press, in a sentence.
export function verdictText(receipt) {
  const command = commandName(receipt.command);
  const outcome = hasWord("verdict_" + receipt.receipt) ? receipt.receipt : "unknown";
  const sentence = word("verdict_" + outcome, { command });
  if (outcome !== "rejected" || !receipt.reason) return sentence;
  const key = "reason_" + (receipt.reason === "illegal" ? illegal(receipt) : receipt.reason);
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
<meta name="color-scheme" content="light dark">
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
<div class="switches" role="group" data-label="switches">
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
import { drawSplits } from "./bars.js";
import { makeRun } from "./picture.js";
import { countdownText, makeRoom, placeText } from "./room.js";
import { drawing, element, panel, setText } from "./element.js";
import { cadence, clock, commandName, distance, energy, hasWord, heartRate, height, isKnown, milliseconds, pace, phaseName, sourceName, span, timeOfDay, verdictText, word } from "./format.js";

// The commands that a phase takes, each at its place. A place stays empty when its command would be refused: a tap that comes
// when the phase changes meets nothing, or the opposite of what it was meant for, and no other command.
const placesOf = {
  idle: ["start", null, null], running: ["pause", "lap", "stop"], paused: ["resume", "lap", "stop"], completed: ["start", null, null],
  unknown: ["pause", "resume", "stop"],
};
const noPlaces = [null, null, null];
// A stop cannot be taken back, so it takes two presses: the second within so many milliseconds, and not so soon that it is a tap that
// bounces.
const stopWithin = 3000;
const stopAfter = 300;
const routeEvery = 3000;
const commandsShown = 6;
// How old readings may be to be called current, seconds; as the metric's own limit.
const currentFor = 30;

/// What a push says about now: active time, whether it is stale, how old it is. `at` is when the push came, by Date.now(),
/// which goes on while the machine sleeps.
export function presentOf(live, at, now) {
  const passed = Math.max(0, (now - at) / 1000);
  return {
    seconds: live.activeSeconds + (live.clockTicks ? ((live.ageSeconds || 0) + passed) * live.speed : 0),
    // Until the run of the room starts; nothing without a countdown.
    startsIn: isKnown(live.startsInSeconds) ? live.startsInSeconds - passed : null,
    isStale: live.stale || (isKnown(live.staleInSeconds) && passed >= live.staleInSeconds),
    age: (live.pushAgeSeconds ?? live.ageSeconds ?? 0) + passed,
  };
}

// MARK: Buttons

/// Presses of this page that wait for the phone: their verdict is told when it comes.
const waiting = new Set();

function makeButton(command, source, tell) {
  const name = commandName(command);
  let [isSending, askedAt, tappedAt, timer, stage] = [false, null, null, null, null];

  function draw() {
    const isArmed = askedAt !== null;
    node.classList.toggle("armed", isArmed);
    node.classList.toggle("waits", stage === "queued");
    node.classList.toggle("sent", isSending || stage === "pending");
    setText(node, isArmed ? word("pressAgain") : stage === "queued" ? word("verdict_queued", { command: name }) : name);
  }

  /// Whether a press counts: a first press on stop only asks for a second one.
  function isMeant() {
    if (command !== "stop") return true;
    const now = Date.now();
    const isTooSoon = tappedAt !== null && now - tappedAt < stopAfter;
    tappedAt = now;
    // Taps in a row are one: each begins the time anew.
    if (askedAt !== null && isTooSoon) return false;
    const isSecond = askedAt !== null && now - askedAt < stopWithin;
    clearTimeout(timer);
    askedAt = isSecond ? null : now;
    if (!isSecond) {
      timer = setTimeout(() => { askedAt = null; draw(); }, stopWithin);
      tell(word("stopAsks"), stopWithin);
    }
    draw();
    return isSecond;
  }

  async function send() {
    isSending = true;
    draw();
    try {
      const receipt = await press(command, source);
      if (receipt.commandId && ["queued", "pending"].includes(receipt.receipt)) waiting.add(receipt.commandId);
      tell(verdictText({ command, ...receipt }));
    } catch (error) {
      const reason = error.status === 403 ? word("refusedHere") : error.name === "TimeoutError" ? word("noAnswer") : error.message;
      tell(word("pressFailed", { command: name, reason }));
    }
    isSending = false;
    draw();
  }

  const node = element("button", {
    type: "button", class: `press ${command}`, "data-command": command, onclick: () => (isMeant() ? send() : null),
    // A key that is held presses once.
    onkeydown: (event) => { if (event.repeat) event.preventDefault(); },
  }, name);
  return { command, node, show(next) { stage = next; draw(); } };
}

/// Buttons in fixed places. `stages` says of a command which waits how far it is, `queued` or `pending`. Buttons that exist
/// stay, so that the focus stays.
function makeButtons(source, tell) {
  const node = element("div", { class: "buttons" });
  let buttons = [];
  return {
    node,
    show(commands, stages) {
      if (buttons.map((button) => button.command).join() !== commands.join()) {
        const focused = buttons.findIndex((button) => button.node === document.activeElement);
        buttons = commands.map((command, index) => {
          if (buttons[index] && buttons[index].command === command) return buttons[index];
          return command ? makeButton(command, source, tell) : { command, node: element("span", { class: "place" }), show() {} };
        });
        node.replaceChildren(...buttons.map((button) => button.node));
        const next = buttons[focused] && buttons[focused].command ? buttons[focused] : buttons.find((button) => button.command);
        if (focused >= 0 && next) next.node.focus();
      }
      for (const button of buttons) button.show(stages[button.command] || null);
    },
  };
}

/// How far the waiting commands of a view are. One that the phone has counts more than one that waits for it.
function stagesOf(commands) {
  const stages = {};
  for (const { command, receipt } of commands) {
    if (receipt === "pending" || (receipt === "queued" && !stages[command])) stages[command] = receipt;
  }
  return stages;
}

// MARK: The lock screen

const phaseShapes = {
  running: "M7 4L19 12L7 20Z", paused: "M6 4H10V20H6ZM14 4H18V20H14Z", completed: "M5 12.5L10 17.5L19.5 7", idle: "M12 3A9 9 0 1 0 12.01 3M12 7.5V12L15 14",
};

/// A sign of the phase, which is said in words beside it.
function makeSign() {
  const path = drawing("path");
  const node = drawing("svg", { viewBox: "0 0 24 24", class: "sign", "aria-hidden": "true" }, path);
  return {
    node,
    show(phase) {
      const name = phaseShapes[phase] ? phase : "idle";
      node.setAttribute("class", `sign ${name}`);
      path.setAttribute("d", phaseShapes[name]);
    },
  };
}

/// Values under their names that are changed in place; the first `bigCount` are large.
function makeValues(className, names, bigCount) {
  const values = names.map(() => element("dd"));
  return {
    node: element("dl", { class: className }, names.map((name, index) => element("div", { class: index < bigCount ? "metric big" : "metric" }, element("dt", {}, word(name)), values[index]))),
    show(texts) { texts.forEach((text, index) => setText(values[index], text)); },
  };
}

/// The card of the lock screen and the island. Both draw only what was pushed.
function makeLockScreen(tell) {
  const names = ["distance", "pace", "heartRate"];
  const signs = [makeSign(), makeSign()];
  const timer = element("p", { class: "timer", role: "timer", "aria-label": word("activeTime") });
  const phase = element("p", { class: "phase" });
  const note = element("p", { class: "note" });
  const buttons = makeButtons("liveActivity", tell);
  const metrics = [makeValues("metrics", names, 0), makeValues("metrics", names, 0)];
  const card = element(
    "section", { class: "card", "aria-label": word("lockScreen") }, element("div", { class: "head" }, signs[0].node, phase), timer,
    metrics[0].node, buttons.node, note);
  const islandTimer = element("span", { class: "timer" });
  const islandPhase = element("p", { class: "phase" });
  const islandButtons = makeButtons("liveActivity", tell);
  const island = element(
    "details", { class: "island", onkeydown: (event) => { if (event.key === "Escape") { island.open = false; island.firstChild.focus(); } } },
    element("summary", {}, element("span", { class: "hidden" }, word("island")), signs[1].node, islandTimer),
    element("div", { class: "more" }, islandPhase, metrics[1].node, islandButtons.node));
  let live = null;
  let at = 0;

  function noteOf(present) {
    if (live.hubLost) return word("hubLost");
    if (present.isStale) return word("staleCard", { age: span(present.age) });
    if (live.recovering) return word("recovering");
    return [
      live.pending.map((command) => word("verdict_pending", { command: commandName(command) })).join(", "),
      // A countdown beside a run that goes on; without a run the clock shows it.
      present.startsIn !== null && live.phase !== "idle" ? countdownText(present.startsIn) : "", live.room ? placeText(live.room) : "",
    ].filter(Boolean).join(" · ");
  }

  /// What the large clock shows: active time, or in a countdown what is left of it.
  function shownSeconds(present) {
    return live && live.phase === "idle" && present.startsIn !== null ? Math.max(0, Math.ceil(present.startsIn)) : present.seconds;
  }

  function tick() {
    const present = live ? presentOf(live, at, Date.now()) : { seconds: 0, startsIn: null, isStale: false };
    for (const node of [timer, islandTimer]) setText(node, clock(shownSeconds(present)));
    for (const node of [card, island]) node.classList.toggle("stale", live !== null && (present.isStale || live.hubLost));
    setText(note, live ? noteOf(present) : "");
    note.classList.toggle("alarm", live !== null && (present.isStale || live.hubLost));
  }

  return {
    node: element("div", { class: "stage" }, island, card), tick,
    /// `empty` says what is so while there is no push; `canPress` whether anybody would take a press.
    show(state, time, empty, canPress) {
      [live, at] = [state, time];
      const shown = live ? (hasWord("phase_" + live.phase) ? live.phase : "unknown") : "idle";
      for (const sign of signs) sign.show(shown);
      for (const node of [card, island]) node.dataset.phase = shown;
      const by = live && live.changedBy ? ` · ${word("changedBy", { source: sourceName(live.changedBy) })}` : "";
      const isCountdown = live !== null && live.phase === "idle" && isKnown(live.startsInSeconds);
      timer.setAttribute("aria-label", word(isCountdown ? "roomStage_countdown" : "activeTime"));
      setText(phase, isCountdown ? word("roomStage_countdown") : live ? phaseName(live.phase) + by : empty);
      setText(islandPhase, phase.textContent);
      const texts = live
        ? [distance(live.distanceMeters), pace(live.paceSecondsPerKilometer ?? live.averagePaceSecondsPerKilometer), heartRate(live.heartRateBpm)]
        : ["–", "–", "–"];
      for (const list of metrics) list.show(texts);
      const commands = !canPress || isCountdown ? noPlaces : live ? placesOf[shown] || noPlaces : placesOf.idle;
      const stages = Object.fromEntries((live ? live.pending : []).map((command) => [command, "pending"]));
      buttons.show([commands[0], commands[2]], stages);
      islandButtons.show(commands, stages);
      tick();
    },
  };
}

// MARK: The dashboard

function drawDevices({ devices, isReachable }) {
  if (!devices.length) return element("p", { class: "empty" }, word("noDevices"));
  return element("ul", { class: "devices" }, devices.map((device) => {
    const facts = [];
    if (isKnown(device.roundTripSeconds)) facts.push(`${word("roundTrip")} ${milliseconds(device.roundTripSeconds)}`);
    if (isKnown(device.heardAgeSeconds)) facts.push(word("heardAgo", { age: span(device.heardAgeSeconds) }));
    if (device.waiting > 0) facts.push(word("waitingFor", { count: device.waiting }));
    return element(
      "li", { class: !isReachable ? "unsure" : device.reachable ? "here" : "gone" },
      element("span", { class: "name" }, device.deviceId, device.role && device.role !== device.deviceId ? element("small", {}, ` ${sourceName(device.role)}`) : null),
      element("span", { class: "state" }, word(!isReachable ? "notKnown" : device.reachable ? "here" : "gone")), element("small", { class: "facts" }, facts.join(" · ")));
  }));
}

function drawCommands(commands) {
  if (!commands.length) return element("p", { class: "empty" }, word("noCommands"));
  const list = (some) => element("ol", { class: "commands" }, some.map((command) => element(
    "li", { class: command.receipt }, element("span", {}, verdictText(command)),
    element("small", {}, word(command.source === command.deviceId ? "fromSame" : "fromDevice", {
      device: command.deviceId, source: sourceName(command.source), time: timeOfDay(command.at),
    })))));
  const earlier = commands.slice(commandsShown);
  return element("div", {}, list(commands.slice(0, commandsShown)), earlier.length ? element(
    "details", { class: "earlier" }, element("summary", {}, word("earlierCommands", { count: earlier.length })), list(earlier)) : null);
}

/// Redraws a part of the page only when what it shows has changed, so that a selection in it stays.
function makeRedrawer(node, draw) {
  let shown = null;
  return (value) => {
    const text = JSON.stringify(value) ?? "";
    if (text === shown) return;
    shown = text;
    node.replaceChildren(draw(value));
  };
}

/// What the phase and the way to the phone are, in a sentence.
function lineOf(view, stages) {
  const parts = [phaseName(view.state.phase)];
  if (view.state.changedBy) parts.push(word("changedBy", { source: sourceName(view.state.changedBy.source) }));
  parts.push(...Object.entries(stages).map(([command, stage]) => word("verdict_" + stage, { command: commandName(command) })));
  if (view.state.metrics.autoPaused && view.state.phase === "running") parts.push(word("autoPaused"));
  if (view.state.recovering) parts.push(word("recovering"));
  if (view.link.refusal) parts.push(word("refused", { reason: view.link.refusal }));
  else if (view.hubLost) parts.push(word("hubLost"));
  else if (view.hubOffDuty) parts.push(word("hubAway"));
  else if (!view.link.reachable) parts.push(word("hubUnreachable"));
  return parts.join(" · ");
}

/// The numbers of a view at a moment, `passed` seconds of the run after its snapshot.
function presentNumbers({ phase, metrics, recovering, clockStopped }, passed) {
  const isOn = phase === "running" || phase === "paused";
  const isTicking = phase === "running" && !metrics.autoPaused && !recovering && !clockStopped;
  const ages = metrics.ages || {};
  // What describes the present is not shown when it is too old for that.
  const current = (value, age) => (isOn && isKnown(age) && age + passed <= currentFor ? value : null);
  return [
    clock(metrics.activeSeconds + (isTicking ? passed : 0)), distance(metrics.distanceMeters),
    pace(phase === "running" ? current(metrics.currentPaceSecondsPerKilometer, ages.distanceSeconds) : null), heartRate(current(metrics.heartRateBpm, ages.heartRateSeconds)),
    clock(metrics.elapsedSeconds + (isOn ? passed : 0)), pace(metrics.averagePaceSecondsPerKilometer), heartRate(metrics.averageHeartRateBpm),
    heartRate(metrics.maxHeartRateBpm), cadence(metrics.averageCadenceStepsPerMinute), height(metrics.elevationGainMeters), energy(metrics.energyJoules),
    isKnown(metrics.lapCount) ? String(metrics.lapCount) : "–",
  ];
}

/// The goal of a run and what remains of it at a moment, `passed` seconds of the run after its snapshot; empty without one.
function presentGoal({ phase, metrics, goalSeconds }, passed) {
  if (!isKnown(goalSeconds)) return "";
  const isOn = phase === "running" || phase === "paused";
  const left = Math.max(0, goalSeconds - metrics.elapsedSeconds - (isOn ? passed : 0));
  // Rounded up: with the elapsed time, which is cut to the second, it makes the goal.
  return left > 0 ? word("goalLeft", { goal: clock(goalSeconds), left: clock(Math.ceil(left)) }) : word("goalReached", { goal: clock(goalSeconds) });
}

const numberNames = [
  "activeTime", "distance", "currentPace", "currentHeartRate", "elapsed", "averagePace", "averageHeartRate", "highestHeartRate", "cadence", "climbed",
  "energy", "laps",
];

/// The view of the present run; returns what ends it.
export function showLive(main, tell, banner, tiles) {
  const lockScreen = makeLockScreen(tell);
  const line = element("p", { class: "line-of-state", role: "status" });
  const replay = element("p", { class: "replay" });
  const goal = element("p", { class: "goal", hidden: true });
  const buttons = makeButtons("page", tell);
  const controls = element("div", { class: "controls", hidden: true }, element("h2", {}, word("controls")), buttons.node);
  const numbers = makeValues("numbers four", numberNames, 4);
  // Stands instead of everything while nothing is known, or for a page that is not let in.
  const outside = element("section", { class: "panel nothing", role: "status" }, element("p", {}, word("loading")));
  const run = makeRun(tiles);
  const room = makeRoom(tell);
  const [splits, devices, commands] = [element("div"), element("div"), element("div")];
  const redrawDevices = makeRedrawer(devices, drawDevices);
  const redrawCommands = makeRedrawer(commands, drawCommands);
  splits.append(drawSplits(null, false));
  run.update([], [], 1, [], {});
  // Texts that come, go and wrap stand below the buttons, which they would move.
  const inside = element(
    "div", { hidden: true },
    element("div", { class: "top" }, lockScreen.node, element("section", { class: "panel now" }, element("h2", {}, word("now")), numbers.node, controls, goal, line, replay)),
    room.node,
    run.node,
    element("div", { class: "columns" }, panel(word("splits"), splits), panel(word("commands"), commands), panel(word("devices"), devices)));
  main.replaceChildren(element("h1", { class: "hidden" }, word("run")), outside, inside);
  let view = null;
  // Whether views come.
  let isFollowing = false;
  let cameAt = 0;
  let shownRoute = null;
  let shownReport = null;
  // The version of the record that is drawn, and of the one that was asked for.
  let drawnRecord = null;
  let askedRecord = null;
  let askedAt = 0;
  let isBusy = false;
  let isEnded = false;

  function tick() {
    lockScreen.tick();
    room.tick();
    if (!view) return;
    const passed = (view.state.ageSeconds || 0) + Math.max(0, Date.now() - cameAt) / 1000 * view.speed;
    numbers.show(presentNumbers(view.state, passed));
    setText(goal, presentGoal(view.state, passed));
    goal.hidden = goal.textContent === "";
  }

  function drawReport(report) {
    const drawn = [element("div", {}, drawSplits(report, false))];
    if (report && report.laps.length) drawn.push(element("h3", {}, word("laps")), drawSplits(report, true));
    splits.replaceChildren(...drawn);
  }

  async function refresh() {
    if (isBusy || !view || isEnded || Date.now() - askedAt < routeEvery) return;
    const { runId, phase, metrics } = view.state;
    const [routeVersion, reportVersion] = [`${runId} ${view.routeVersion}`, `${runId} ${view.reportVersion}`];
    // A run that is over is drawn from its record as soon as that is kept, so that it is the same here and among the records.
    const recordVersion = phase === "completed" ? `${runId} ${view.recordVersion}` : null;
    if (recordVersion !== null && recordVersion === drawnRecord) return;
    if (routeVersion === shownRoute && reportVersion === shownReport && recordVersion === askedRecord) return;
    isBusy = true;
    askedAt = Date.now();
    try {
      let isOwed = false;
      const record = recordVersion === null ? null : await load(`/api/records/${runId}`).catch((error) => {
        // A store that does not answer is asked again; a record that is not kept comes with another version.
        isOwed = error.status !== 404;
        return null;
      });
      if (record) {
        if (isEnded) return;
        [drawnRecord, askedRecord, shownRoute, shownReport] = [recordVersion, recordVersion, null, null];
        run.updateFrom(record);
        drawReport(record.report);
        return;
      }
      // Without positions only the report's version changes, and the charts go on all the same.
      const [route, series, report] = await Promise.all([load("/api/route"), load("/api/series"), load("/api/report")]);
      [shownRoute, shownReport] = [routeVersion, reportVersion];
      [drawnRecord, askedRecord] = [null, isOwed ? null : recordVersion];
      if (isEnded) return;
      const last = series.samples[series.samples.length - 1];
      const end = last ? last.offsetSeconds : 0;
      run.update(route.points, series.samples, Math.max(1, end, Math.min(metrics.elapsedSeconds, end + 60)), series.pauses, {
        ...metrics, isOn: phase === "running" || phase === "paused",
      });
      drawReport(report);
    } catch { /* the stream says when the connection is lost; the next view tries again */ } finally { isBusy = false; }
  }

  /// Puts a sentence in the place of everything; `null` shows everything again.
  function stand(sentence) {
    [outside.hidden, inside.hidden] = [sentence === null, sentence !== null];
    outside.replaceChildren(sentence === null ? "" : element("p", {}, sentence));
  }

  /// Draws what depends on the view and on whether a press would be taken.
  function draw() {
    const stages = stagesOf(view.commands);
    const canPress = isFollowing && !view.link.refusal;
    lockScreen.show(view.live || null, cameAt, word(view.link.reachable ? "noActivity" : "noPhone"), canPress && (view.live || view.link.reachable));
    controls.hidden = !canPress;
    buttons.show(canPress ? placesOf[view.predicted] || placesOf.unknown : noPlaces, stages);
    setText(line, lineOf(view, stages));
  }

  function show(next) {
    [view, cameAt, isFollowing] = [next, Date.now(), true];
    stand(view.link.refusal && !view.state.runId ? word("refused", { reason: view.link.refusal }) : null);
    line.className = `line-of-state ${!view.link.reachable || view.hubLost || view.hubOffDuty ? "warn" : view.state.phase}`;
    // The speed at which a finished run was played is not known, nor is that of a phone out of reach.
    replay.hidden = view.speed === 1 || !["running", "paused"].includes(view.state.phase) || !view.link.reachable;
    setText(replay, replay.hidden ? "" : word("replaySpeed", { speed: view.speed }));
    document.title = `${phaseName(view.state.phase)} · RunBus`;
    draw();
    for (const command of view.commands) {
      if (command.receipt === "pending" || command.receipt === "queued" || !waiting.delete(command.commandId)) continue;
      tell(verdictText(command));
    }
    room.show(view.room || null, view.cue || null, !view.link.reachable || view.stale || view.hubOffDuty);
    redrawDevices({ devices: view.devices, isReachable: view.link.reachable });
    redrawCommands(view.commands);
    tick();
    refresh();
  }

  const stop = follow(show, (state) => {
    const reason = { full: "tooManyViewers", refused: "refusedHere" }[state];
    if (reason || !view) stand(word(reason || "loading"));
    banner.hidden = state !== "opening";
    setText(banner, banner.hidden ? "" : word("reconnecting"));
    // A press is not delivered before the next view comes.
    if (state !== "open") isFollowing = false;
    if (view) draw();
  });
  // The clock shows whole seconds; five times a second is soon enough, and spares a phone's battery.
  const ticking = setInterval(tick, 200);
  const refreshing = setInterval(refresh, 1000);
  return () => {
    isEnded = true;
    stop();
    clearInterval(ticking);
    clearInterval(refreshing);
    banner.hidden = true;
  };
}

"""#

  static let owner_js = #"""
// What the owner of a run can do with it: give it a title, export it, delete it.
import { download, send } from "./api.js";
import { element, setText } from "./element.js";
import { distance, startOf, titleOf, word } from "./format.js";

/// The heading of a run, which can be edited, and its tools. `owner` says what this machine can do: only that of the phone changes runs.
export function makeTools(summary, owner, tell) {
  const address = `/api/records/${summary.runId}`;
  const heading = element("h1", {}, titleOf(summary));
  const fail = (error) => tell(word("changeFailed", { reason: error.message }));
  const tools = [];
  if (owner.formats.length) tools.push(exportTool(summary, address, owner.formats, fail));
  if (!owner.canChange) return { heading, node: element("div", { class: "owned" }, tools) };
  const form = makeTitle(summary, address, heading, tell, fail);
  const removal = makeRemoval(summary, address, tell, fail);
  const rename = element("button", { type: "button", onclick: () => form.open(rename) }, word("rename"));
  const remove = element("button", { type: "button", class: "remove", onclick: () => removal.open() }, word("deleteRun"));
  return { heading, node: element("div", {}, form.node, element("div", { class: "owned" }, rename, tools, remove), removal.node) };
}

/// A button for each format of a file.
function exportTool(summary, address, formats, fail) {
  const name = (format) => `run-${summary.runId.slice(0, 8)}.${format}`;
  return element("div", { class: "exports", role: "group", "aria-label": word("exportRun") }, element("span", {}, word("exportRun")), formats.map((format) => element(
    "button", { type: "button", onclick: () => download(`${address}/export?format=${format}`, name(format)).catch(fail) }, format.toUpperCase())));
}

/// The form of the title: Enter saves, Escape leaves it.
function makeTitle(summary, address, heading, tell, fail) {
  const input = element("input", { type: "text", id: "title", maxlength: 256, autocomplete: "off" });
  const save = element("button", { type: "button", class: "button main", onclick: () => keep() }, word("save"));
  const cancel = element("button", { type: "button", onclick: () => close() }, word("cancel"));
  const node = element("div", { class: "title", hidden: true }, element("label", { for: "title" }, word("titleLabel")), input, save, cancel);
  let opener = null;
  function close() {
    [node.hidden, opener.parentElement.hidden] = [true, false];
    opener.focus();
  }
  async function keep() {
    save.disabled = true;
    try {
      const { title } = await send(`${address}/title`, { title: input.value.trim() });
      summary.title = title;
      setText(heading, titleOf(summary));
      document.title = `${titleOf(summary)} · RunBus`;
      tell(word("renamed", { title: titleOf(summary) }));
      close();
    } catch (error) { fail(error); } finally { save.disabled = false; }
  }
  input.addEventListener("keydown", (event) => {
    // The Enter that ends a syllable is none of ours.
    if (event.isComposing) return;
    if (event.key === "Enter") keep();
    if (event.key === "Escape") close();
  });
  return {
    node,
    open(from) {
      opener = from;
      [input.value, input.placeholder] = [summary.title, titleOf({ ...summary, title: "" })];
      [node.hidden, opener.parentElement.hidden] = [false, true];
      input.focus();
      input.select();
    },
  };
}

/// The question before a run is deleted. What cannot be taken back is not the answer that Enter gives.
function makeRemoval(summary, address, tell, fail) {
  const yes = element("button", { type: "button", class: "remove sure", onclick: () => remove() }, word("deleteSure"));
  const no = element("button", { type: "button", autofocus: true, onclick: () => node.close() }, word("cancel"));
  const question = element("h2", { id: "ask" });
  const node = element("dialog", { "aria-labelledby": "ask" }, question, element(
    "p", {}, word("deleteWarns", { start: startOf(summary), distance: distance(summary.distanceMeters) })), element("div", { class: "owned" }, no, yes));
  async function remove() {
    yes.disabled = true;
    try {
      await send(`${address}/remove`, { runId: summary.runId });
      node.close();
      // The next view begins without a sentence.
      window.addEventListener("hashchange", () => tell(word("deleted", { title: titleOf(summary) })), { once: true });
      location.hash = "#/records";
    } catch (error) {
      node.close();
      fail(error);
    } finally { yes.disabled = false; }
  }
  return {
    node,
    open() {
      setText(question, word("deleteAsks", { title: titleOf(summary) }));
      node.showModal();
    },
  };
}

"""#

  static let page_css = #"""
/* Colours. Each text colour has at least 4.5 : 1 on paper and panel. */
:root {
  --paper: #f3f3f0; --panel: #ffffff; --sunk: #ecece8; --ink: #191b1e; --soft: #565c64; --line: #dddeda; --edge: #898f96;
  --pace: #0a5cad; --heart: #b3233a; --height: #4d6a22; --second: #9a4a00; --run: #17733a; --hold: #855400; --warn: #a31d1d; --press: #0d4c8c;
  --hue0: #0e164a; --hue1: #480489; --hue2: #7a317f; --hue3: #a85435; --hue4: #aa8205;
  --on-press: #ffffff; --go: #dff0e4; --go-ink: #0f4f28; --wait: #fbedd0; --wait-ink: #664200; --end: #f9dfdf; --end-ink: #861616;
  --wall: linear-gradient(150deg, #6f8fb4 0%, #8b7fae 45%, #c98f86 100%);
  --shadow: 0 1px 2px rgba(20, 24, 30, 0.05), 0 6px 20px rgba(20, 24, 30, 0.04);
  color-scheme: light;
}
@media (prefers-color-scheme: dark) { :root:not([data-theme="light"]) {
  --paper: #121418; --panel: #1b1e24; --sunk: #272b33; --ink: #eceef1; --soft: #a6aeb8; --line: #30353d; --edge: #7d8691;
  --pace: #6cb2ff; --heart: #ff8797; --height: #a6cc70; --second: #f4b45f; --run: #63d48b; --hold: #f0bd5a; --warn: #ff9a9a; --press: #9ccaff;
  --hue0: #7f32eb; --hue1: #ba60da; --hue2: #f881ca; --hue3: #f1c5a5; --hue4: #ebff8e;
  --on-press: #0c1a2a; --go: #17402a; --go-ink: #a5ecc0; --wait: #453412; --wait-ink: #fbd792; --end: #4a2023; --end-ink: #ffbdbd;
  --wall: linear-gradient(150deg, #1d3048 0%, #2d2a4a 50%, #4a2f38 100%);
  --shadow: none;
  color-scheme: dark;
} }
:root[data-theme="dark"] {
  --paper: #121418; --panel: #1b1e24; --sunk: #272b33; --ink: #eceef1; --soft: #a6aeb8; --line: #30353d; --edge: #7d8691;
  --pace: #6cb2ff; --heart: #ff8797; --height: #a6cc70; --second: #f4b45f; --run: #63d48b; --hold: #f0bd5a; --warn: #ff9a9a; --press: #9ccaff;
  --hue0: #7f32eb; --hue1: #ba60da; --hue2: #f881ca; --hue3: #f1c5a5; --hue4: #ebff8e;
  --on-press: #0c1a2a; --go: #17402a; --go-ink: #a5ecc0; --wait: #453412; --wait-ink: #fbd792; --end: #4a2023; --end-ink: #ffbdbd;
  --wall: linear-gradient(150deg, #1d3048 0%, #2d2a4a 50%, #4a2f38 100%);
  --shadow: none;
  color-scheme: dark;
}

/* The page */
* { box-sizing: border-box; }
[hidden] { display: none !important; }
html { -webkit-text-size-adjust: 100%; }
body { margin: 0; background: var(--paper); color: var(--ink); font: 16px/1.45 system-ui, -apple-system, "Segoe UI", "Noto Sans KR", "Noto Sans CJK KR", sans-serif; font-variant-numeric: tabular-nums; overflow-wrap: anywhere; }
:lang(ko) body, body:lang(ko) { word-break: keep-all; }
h1 { font-size: 1.65rem; line-height: 1.2; margin: 0.3rem 0 0.5rem; letter-spacing: -0.015em; }
h2 { font-size: 1rem; font-weight: 650; margin: 0 0 0.7rem; }
h3 { font-size: 0.9rem; font-weight: 600; margin: 0; }
p { margin: 0.3rem 0; }
a { color: var(--press); text-underline-offset: 0.15em; text-decoration-thickness: 1px; }
small { font-size: 0.82rem; color: var(--soft); }
.hidden { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
.skip { position: absolute; left: -999rem; }
.skip:focus { left: 0.5rem; top: 0.5rem; background: var(--panel); padding: 0.6rem 1rem; z-index: 9; border-radius: 8px; }
:focus-visible { outline: 3px solid var(--pace); outline-offset: 2px; border-radius: 6px; }
main:focus { outline: none; }
header { display: flex; flex-wrap: wrap; gap: 0.3rem 1.6rem; align-items: center; padding: 0.55rem 1.5rem; border-bottom: 1px solid var(--line); background: var(--panel); }
.brand { font-weight: 750; margin: 0; letter-spacing: -0.01em; }
header nav { display: flex; gap: 0.2rem; flex: 1; }
header nav a { text-decoration: none; padding: 0.4rem 0.7rem; border-radius: 8px; color: var(--soft); white-space: nowrap; }
header nav a:hover { color: var(--ink); background: var(--sunk); }
header nav a[aria-current] { color: var(--ink); font-weight: 650; background: var(--sunk); }
.switches { display: flex; gap: 0.35rem; }
.switches button { font-size: 0.82rem; padding: 0.25rem 0.65rem; border-color: var(--line); color: var(--soft); white-space: nowrap; }
.switches button:hover { color: var(--ink); border-color: var(--edge); }
button, .button, select, input[type="search"], input[type="text"] { font: inherit; color: var(--ink); background: var(--panel); border: 1px solid var(--edge); border-radius: 9px; padding: 0.4rem 0.8rem; text-decoration: none; }
button, .button, select { cursor: pointer; }
#banner { background: var(--warn); color: var(--paper); margin: 0; padding: 0.55rem 1.5rem; font-weight: 600; text-align: center; }
main { max-width: 1240px; margin: 0 auto; padding: 1.2rem 1.5rem 4rem; }
.told { position: fixed; left: 50%; bottom: 1.2rem; transform: translateX(-50%); background: var(--ink); color: var(--paper); border-radius: 14px; padding: 0.6rem 1.2rem; margin: 0; width: max-content; max-width: calc(100vw - 2rem); z-index: 5; box-shadow: 0 8px 30px rgba(0, 0, 0, 0.25); pointer-events: none; }
.told:empty { display: none; }
.panel { background: var(--panel); border: 1px solid var(--line); border-radius: 16px; padding: 1.1rem 1.2rem; margin: 0 0 1rem; min-width: 0; box-shadow: var(--shadow); }
.empty, .when, .hint, .count { color: var(--soft); }
.empty { padding: 0.6rem 0; margin: 0; }
.nothing { text-align: center; padding: 3rem 1rem; color: var(--soft); }
.top { display: grid; grid-template-columns: 384px minmax(0, 1fr); gap: 1rem; margin-bottom: 1rem; }
.top > * { margin: 0; }
.picture { display: grid; grid-template-columns: minmax(0, 2fr) minmax(0, 3fr); gap: 1rem; margin-bottom: 1rem; }
.picture > * { margin: 0; }
.columns { display: grid; grid-template-columns: repeat(auto-fit, minmax(300px, 1fr)); gap: 1rem; align-items: start; }
.columns h3 { margin: 1rem 0 0.4rem; color: var(--soft); }

/* Lock screen and island */
.stage { position: relative; border-radius: 28px; background: var(--wall); padding: 0.9rem; display: flex; flex-direction: column; gap: 0.9rem; min-width: 0; }
.card { border-radius: 24px; padding: 1rem 1.2rem 1.1rem; color: #f6f7f9; background: rgba(18, 21, 28, 0.8); -webkit-backdrop-filter: blur(24px) saturate(1.6); backdrop-filter: blur(24px) saturate(1.6); }
.card .head { display: flex; gap: 0.45rem; align-items: center; }
.sign { width: 1.15rem; height: 1.15rem; flex: none; fill: currentColor; color: #7fe3a3; }
.sign.paused { color: #ffd27a; }
.sign.completed, .sign.idle { fill: none; stroke: currentColor; stroke-width: 2.6; stroke-linecap: round; stroke-linejoin: round; color: #d5dae2; }
.phase { margin: 0; font-weight: 600; font-size: 0.92rem; color: #8fe3ac; }
[data-phase="paused"] .phase { color: #ffd27a; }
[data-phase="completed"] .phase, [data-phase="idle"] .phase, [data-phase="unknown"] .phase { color: #d5dae2; }
.card .timer { font-size: 3.7rem; font-weight: 600; line-height: 1.1; margin: 0 0 0.5rem; letter-spacing: -0.03em; overflow-wrap: normal; white-space: nowrap; }
.metrics { display: grid; grid-template-columns: repeat(3, minmax(0, 1fr)); gap: 0.5rem; margin: 0; }
.metric dt { font-size: 0.8rem; color: var(--soft); }
.metric dd { margin: 0; font-size: 1.15rem; font-weight: 600; letter-spacing: -0.01em; }
.metrics .metric dt { color: #c6ccd6; }
.metrics .metric dd { font-size: 1.05rem; white-space: nowrap; }
.card .note { min-height: 2.9em; margin: 0.7rem 0 0; font-size: 0.9rem; font-weight: 600; color: #ffd9a0; }
.card .note.alarm { color: #ffb4b4; }
.stale .timer, .stale .metrics, .stale .phase, .stale .sign { opacity: 0.62; }
.island { align-self: center; background: #000; color: #fff; border-radius: 22px; width: 11.5rem; max-width: 100%; transition: width 0.25s; }
.island[open] { width: 100%; border-radius: 28px; }
.island summary { list-style: none; display: flex; align-items: center; justify-content: space-between; cursor: pointer; padding: 0.5rem 0.95rem; border-radius: 22px; font-weight: 600; position: relative; }
.island summary::-webkit-details-marker { display: none; }
.island[open] summary .timer { font-size: 1.7rem; letter-spacing: -0.02em; line-height: 1.3; }
.island .more { padding: 0 1rem 1rem; }
.island .more .phase { margin-bottom: 0.4rem; }
.island .buttons { margin-top: 0.8rem; }
.stage :focus-visible { outline-color: #ffffff; }
.buttons { display: grid; grid-template-columns: repeat(3, minmax(0, 1fr)); gap: 0.6rem; max-width: 40rem; }
.card .buttons { grid-template-columns: repeat(2, minmax(0, 1fr)); margin-top: 0.9rem; }
.press, .place { height: 54px; }
.press { padding: 0 0.4rem; line-height: 1.15; border-radius: 27px; font-weight: 650; border: 2px solid transparent; background: var(--go); color: var(--go-ink); touch-action: manipulation; }
.press.armed, .press.waits { font-size: 0.8rem; }
.press.pause, .press.lap { background: var(--wait); color: var(--wait-ink); }
.press.lap { background: var(--sunk); color: var(--ink); }
.press.stop { background: var(--end); color: var(--end-ink); }
.press.armed { background: var(--warn); color: var(--paper); }
.press:hover { filter: brightness(0.97); }
.press.waits { border-style: dashed; border-color: currentColor; }
.press.sent { border-color: currentColor; }
.stage .press { background: #1d6b3d; color: #c5f6d6; }
.stage .press.pause { background: #6d5116; color: #ffe2a8; }
.stage .press.lap { background: #343a45; color: #f0f2f5; }
.stage .press.stop { background: #7a272c; color: #ffd0d0; }
.stage .press.stop.armed { background: #ffb4b4; color: #3d0a0c; }

/* Now */
.now { display: flex; flex-direction: column; }
.now .numbers { margin-bottom: auto; }
.controls { margin-top: 1.2rem; }
.line-of-state { font-weight: 650; font-size: 1.15rem; margin: 1.1rem 0 0.2rem; padding-left: 0.8rem; border-left: 5px solid var(--edge); }
.line-of-state.running { border-color: var(--run); }
.line-of-state.paused { border-color: var(--hold); }
.line-of-state.warn { border-color: var(--warn); color: var(--warn); }
.replay, .goal { color: var(--soft); font-size: 0.9rem; padding-left: 0.8rem; border-left: 5px solid transparent; margin: 0; }
.numbers { display: grid; grid-template-columns: repeat(auto-fill, minmax(132px, 1fr)); gap: 0.9rem 1rem; margin: 0.9rem 0 1.2rem; }
.panel > .numbers { margin: 0; }
.panel > .numbers + .numbers { margin-top: 1rem; padding-top: 0.9rem; border-top: 1px solid var(--line); }
.now > .numbers { margin-top: 0.2rem; }
@media (min-width: 641px) { .numbers.four { grid-template-columns: repeat(4, minmax(0, 1fr)); } }
@media (min-width: 901px) { .numbers.six { grid-template-columns: repeat(6, minmax(0, 1fr)); } }
.numbers .big dd { font-size: 1.6rem; line-height: 1.25; }

/* Room */
.room-stage { font-weight: 650; font-size: 1.25rem; margin: 0; padding-left: 0.8rem; border-left: 5px solid var(--edge); }
.room[data-stage="countdown"] .room-stage { border-color: var(--hold); font-size: 1.8rem; line-height: 1.2; }
.room[data-stage="running"] .room-stage { border-color: var(--run); }
.room-facts, .room-doubt { color: var(--soft); font-size: 0.9rem; margin: 0.35rem 0 0; }
.room-gate { margin: 0.5rem 0 0; font-weight: 600; color: var(--hold); } .room-gate.open { color: var(--run); }
.room-table { margin-top: 0.7rem; } .room-table caption { text-align: left; font-size: 0.82rem; color: var(--soft); padding: 0 0.6rem 0.2rem; }
.room-table .column-place { width: 1%; white-space: nowrap; } .room-table .own { background: var(--sunk); } .room-table tbody th { overflow-wrap: anywhere; } .room-table .number { white-space: normal; }
.room.blind .room-table, .room.blind .room-stage { opacity: 0.75; }

/* Route and charts */
.picture > .panel:first-child { display: flex; flex-direction: column; }
.map { display: flex; flex-direction: column; flex: 1; }
.map .empty { color: var(--soft); }
.route { width: 100%; flex: 1; min-height: 0; background: var(--paper); cursor: crosshair; touch-action: pan-y; border-radius: 10px; }
.route .line, .route .edge { fill: none; stroke: var(--pace); stroke-width: 3.2; stroke-linejoin: round; stroke-linecap: round; }
.route .edge { stroke: var(--paper); stroke-width: 7; }
.route .mark { fill: var(--heart); stroke: var(--panel); stroke-width: 3; }
.begin circle { fill: var(--run); stroke: var(--panel); stroke-width: 2; } .begin path { fill: var(--panel); }
.end rect { fill: var(--ink); stroke: var(--panel); stroke-width: 2; }
.present circle { fill: var(--heart); stroke: var(--panel); stroke-width: 2; }
.arrows path { fill: var(--ink); stroke: var(--paper); stroke-width: 1.4; paint-order: stroke; stroke-linejoin: round; }
.hues .line { stroke-width: 4; } .hues .unknown { stroke: var(--edge); stroke-dasharray: 1 5; }
.hues .hue0 { stroke: var(--hue0); } .hues .hue1 { stroke: var(--hue1); } .hues .hue2 { stroke: var(--hue2); } .hues .hue3 { stroke: var(--hue3); } .hues .hue4 { stroke: var(--hue4); }
.swatches { display: inline-flex; border-radius: 4px; overflow: hidden; } .swatches span { width: 1.2rem; height: 0.7rem; }
.swatches .hue0 { background: var(--hue0); } .swatches .hue1 { background: var(--hue1); } .swatches .hue2 { background: var(--hue2); } .swatches .hue3 { background: var(--hue3); } .swatches .hue4 { background: var(--hue4); }
.entry { display: inline-flex; align-items: center; gap: 0.35rem; white-space: nowrap; }
.sample { width: 1.05rem; height: 1.05rem; flex: none; }
.map .legend { margin: 0.6rem 0 0; gap: 0.2rem 0.9rem; }
.units circle { fill: var(--panel); stroke: var(--pace); stroke-width: 1.4; }
.units text { fill: var(--ink); font-size: 8.5px; font-weight: 650; text-anchor: middle; }
.scale path { fill: none; stroke: var(--soft); stroke-width: 1.4; }
.scale text { fill: var(--soft); font-size: 10.5px; }
.tiles { opacity: 0.75; }
.source { font-size: 0.78rem; color: var(--soft); text-align: right; margin: 0.2rem 0 0; }
.charts { --gutter: 4.9rem; }
.readout { font-weight: 600; margin: -0.2rem 0 0.2rem; min-height: 1.45em; }
.whole { position: absolute; left: 0; top: 2px; font-size: 0.75rem; padding: 0.05rem 0.4rem; border-color: var(--line); color: var(--soft); white-space: nowrap; } .whole.unseen { visibility: hidden; }
.slide { position: relative; padding-left: calc(var(--gutter) - 8px); margin-right: -8px; }
input[type="range"] { -webkit-appearance: none; appearance: none; width: 100%; height: 28px; margin: 0; background: transparent; cursor: ew-resize; touch-action: pan-y; outline: none; }
input[type="range"].resting::-webkit-slider-thumb { background: var(--panel); border-color: var(--edge); }
input[type="range"].resting::-moz-range-thumb { background: var(--panel); border-color: var(--edge); }
input[type="range"]:focus-visible::-webkit-slider-thumb { box-shadow: 0 0 0 3px var(--panel), 0 0 0 6px var(--pace); }
input[type="range"]:focus-visible::-moz-range-thumb { box-shadow: 0 0 0 3px var(--panel), 0 0 0 6px var(--pace); }
input[type="range"]::-webkit-slider-runnable-track { height: 4px; border-radius: 2px; background: linear-gradient(90deg, var(--pace) var(--share, 0%), var(--edge) var(--share, 0%)); }
input[type="range"]::-moz-range-track { height: 4px; border-radius: 2px; background: var(--edge); }
input[type="range"]::-webkit-slider-thumb { -webkit-appearance: none; width: 18px; height: 18px; border-radius: 50%; margin-top: -7px; background: var(--pace); border: 3px solid var(--panel); box-shadow: 0 0 0 1px var(--edge); }
input[type="range"]::-moz-range-thumb { width: 14px; height: 14px; border-radius: 50%; background: var(--pace); border: 3px solid var(--panel); }
.chart { margin: 0 0 0.8rem; }
.chart.pace { --tint: var(--pace); } .chart.heartRate { --tint: var(--heart); } .chart.elevation { --tint: var(--height); }
.chart .head { display: flex; flex-wrap: wrap; justify-content: space-between; gap: 0 1rem; margin-bottom: 0.25rem; }
.chart .head .value { font-weight: 600; font-size: 0.9rem; color: var(--tint); white-space: pre-wrap; }
.plot { position: relative; margin-left: var(--gutter); border: solid var(--line); border-width: 1px 0; }
.plot svg { display: block; width: 100%; height: 116px; touch-action: pan-y; cursor: crosshair; }
.plot .line { fill: none; stroke: var(--tint); stroke-width: 1.8; vector-effect: non-scaling-stroke; stroke-linejoin: round; }
.plot .line.second { stroke: var(--second); stroke-dasharray: 5 3; }
.plot .area { fill: var(--tint); opacity: 0.1; }
.plot .grid { stroke: var(--line); stroke-width: 1; vector-effect: non-scaling-stroke; }
.plot .band { fill: var(--edge); opacity: 0.28; }
.plot .cursor { stroke: var(--ink); stroke-width: 1; vector-effect: non-scaling-stroke; }
.ticks { position: absolute; inset: 0; pointer-events: none; }
.ticks span { position: absolute; right: calc(100% + 0.5rem); transform: translateY(-50%); font-size: 0.75rem; line-height: 1; color: var(--soft); white-space: nowrap; }
.dots { position: absolute; inset: 0; pointer-events: none; }
.dot { position: absolute; width: 9px; height: 9px; margin: -4.5px; border-radius: 50%; background: var(--tint); border: 2px solid var(--panel); box-sizing: content-box; margin: -6.5px; }
.dot.second { background: var(--second); }
figcaption, .words { font-size: 0.85rem; color: var(--soft); }
figcaption { margin: 0.25rem 0 0 var(--gutter); }
.axis { position: relative; height: 1.3em; margin: 0.25rem 0 0 var(--gutter); font-size: 0.75rem; color: var(--soft); }
.axis span { position: absolute; transform: translateX(-50%); white-space: nowrap; }
.axis span:first-child { transform: none; } .axis .last { transform: translateX(-100%); }
.legend { font-size: 0.85rem; color: var(--soft); display: flex; flex-wrap: wrap; align-items: center; gap: 0.4rem; margin: 0.3rem 0 0.6rem; }
.charts + .legend { margin: 0.4rem 0 0 4.9rem; }
.legend .band { width: 1.1rem; height: 0.8rem; background: var(--edge); opacity: 0.45; border-radius: 2px; }
.key { display: inline-block; width: 1.5rem; border-top: 3px solid currentColor; vertical-align: middle; flex: none; }
.key.second { border-top-style: dashed; border-color: var(--second); }
.legend .key.second { margin-left: 0.8rem; }

/* Splits, commands, devices */
.splits, .commands, .devices { list-style: none; margin: 0; padding: 0; }
.fitted { container-type: inline-size; }
.splits li { display: grid; grid-template-columns: max-content minmax(2rem, 1fr) 5.2rem 4.6rem; gap: 0.6rem; align-items: center; padding: 0.14rem 0; font-size: 0.93rem; }
.splits.climbs li { grid-template-columns: max-content minmax(2rem, 1fr) 5.2rem 4.6rem 5.8rem; }
.splits .climb { color: var(--soft); font-weight: 400 !important; font-size: 0.85rem; }
@container (max-width: 26rem) {
  .splits li, .splits.climbs li { grid-template-columns: max-content minmax(1.5rem, 1fr) 4.9rem 4.2rem; gap: 0 0.4rem; }
  .splits .climb { grid-column: 2 / -1; font-size: 0.75rem; line-height: 1.1; }
}
.splits .name { min-width: 4.1rem; color: var(--soft); }
.track { background: var(--sunk); border-radius: 5px; overflow: hidden; }
.splits .bar { display: block; height: 1.05rem; border-radius: 5px; background: var(--pace); opacity: 0.72; }
.splits .best .bar { opacity: 1; } .splits .open .bar { opacity: 0.45; }
.splits .best .value { font-weight: 700; }
.splits .value { text-align: right; white-space: nowrap; } .splits .pulse { color: var(--soft); font-weight: 400 !important; }
.words { margin: 0.6rem 0 0; }
.earlier summary { cursor: pointer; color: var(--press); font-size: 0.9rem; padding: 0.2rem 0 0.5rem; }
.narrow { display: none; }
.commands li { padding: 0.15rem 0 0.15rem 0.75rem; border-left: 4px solid var(--edge); margin-bottom: 0.55rem; font-size: 0.95rem; }
.commands small { display: block; }
.commands .applied { border-color: var(--run); } .commands .rejected { border-color: var(--warn); } .commands .coalesced, .commands .superseded { border-color: var(--hold); }
.commands .queued, .commands .pending { border-left-style: dashed; }
.devices li { display: grid; grid-template-columns: minmax(0, 1fr) auto; gap: 0 0.8rem; padding: 0.45rem 0; border-top: 1px solid var(--line); }
.devices li:first-child { border: 0; padding-top: 0; }
.devices .name { font-weight: 600; } .devices .name small { font-weight: 400; }
.devices .state { font-size: 0.88rem; white-space: nowrap; } .devices .state::before { content: ""; display: inline-block; width: 0.6rem; height: 0.6rem; border-radius: 50%; margin-right: 0.4rem; background: var(--run); }
.devices .unsure .state::before { background: var(--edge); }
.devices .gone .state::before { background: transparent; border: 2px solid var(--warn); }
.devices .facts { grid-column: 1 / -1; }

/* Tables */
table { border-collapse: collapse; width: 100%; }
th, td { text-align: left; padding: 0.5rem 0.6rem; border-bottom: 1px solid var(--line); vertical-align: top; }
tbody tr:last-child > * { border-bottom: 0; }
thead th { font-weight: 600; color: var(--soft); font-size: 0.82rem; white-space: nowrap; }
tbody th { font-weight: 600; overflow-wrap: normal; }
.number { text-align: right; white-space: nowrap; }
.scroll { overflow-x: auto; padding-block: 0.4rem; }
.records tbody tr:hover { background: var(--sunk); }
.what { min-width: 9rem; } .what a { font-weight: 600; } .what small { display: block; }
.choice { text-align: center; width: 1%; } .choice label { display: inline-block; padding: 0.3rem 0.6rem; margin: -0.3rem; } .choice input { width: 1.15rem; height: 1.15rem; accent-color: var(--press); vertical-align: middle; }
.tools { display: flex; flex-wrap: wrap; gap: 0.6rem 1rem; align-items: end; margin: 0.4rem 0 0.6rem; }
.field { display: flex; flex-direction: column; gap: 0.2rem; min-width: 0; } .field.grow { flex: 1 1 16rem; } .field label { font-size: 0.82rem; color: var(--soft); }
.line { display: flex; flex-wrap: wrap; gap: 0.2rem 1rem; align-items: center; min-height: 2.6rem; margin-bottom: 0.4rem; } .line p { margin: 0; }
.button.main, .tabs [aria-current] { background: var(--press); color: var(--on-press); border-color: var(--press); font-weight: 600; }
.tabs { display: flex; gap: 0.4rem; margin: 0.4rem 0 1rem; }
.compared th:first-child { color: var(--soft); font-weight: 500; } .compared thead th { white-space: normal; } .compared thead .number { text-align: right; }
.who { display: block; } .who .key { margin-right: 0.4rem; } .who small { display: block; font-weight: 400; }
.bars { position: relative; margin: 0.2rem 0 2rem 4rem; border-bottom: 1px solid var(--edge); border-top: 1px dashed var(--line); }
.bars svg { display: block; width: 100%; height: 170px; } .bars .bar { fill: var(--pace); } .bars .present .bar { opacity: 0.5; } .bars .reach { fill: transparent; } .bars g:hover .reach { fill: var(--sunk); }
.bars .mean { stroke: var(--second); stroke-width: 2; vector-effect: non-scaling-stroke; stroke-dasharray: 6 4; }
.bars .grid { stroke: var(--line); stroke-width: 1; vector-effect: non-scaling-stroke; }
.names { position: absolute; left: 0; right: 0; top: 100%; height: 1.5em; margin: 0.35rem 0 0; font-size: 0.75rem; color: var(--soft); } .names span { position: absolute; white-space: nowrap; }
.bests { display: grid; grid-template-columns: repeat(auto-fill, minmax(180px, 1fr)); gap: 0.9rem 1rem; margin: 0; } .bests dd { font-size: 1rem; } .bests small { display: block; font-weight: 400; }
.owner { white-space: pre-wrap; max-width: 44rem; margin: 0.5rem 0 1rem; } .when { margin-bottom: 0.8rem; } .owned, .exports, .title { display: flex; flex-wrap: wrap; gap: 0.4rem; align-items: center; }
.owned { margin: 0 0 1rem; } .owned button, .title button { font-size: 0.88rem; padding: 0.25rem 0.7rem; } .exports span { font-size: 0.88rem; color: var(--soft); margin-left: 0.4rem; }
.title { margin: 0 0 1rem; } .title label { flex-basis: 100%; font-size: 0.82rem; color: var(--soft); } .title input { flex: 1 1 9rem; max-width: 30rem; min-width: 0; }
.remove { color: var(--warn); border-color: var(--warn); margin-left: auto; } .remove.sure { background: var(--warn); color: var(--paper); font-weight: 600; }
dialog { color: var(--ink); background: var(--panel); border: 1px solid var(--edge); border-radius: 16px; padding: 1.2rem 1.3rem; max-width: min(30rem, calc(100vw - 2rem)); }
dialog::backdrop { background: rgba(10, 12, 16, 0.5); } dialog .owned { margin: 1rem 0 0; }
.way { margin: 0; } .way a { text-decoration: none; } .way a:hover { text-decoration: underline; }

@media (max-width: 900px) {
  .top, .picture { grid-template-columns: minmax(0, 1fr); }
}
@media (max-width: 640px) {
  main { padding: 0.8rem 0.8rem 4rem; } header { padding: 0.5rem 0.8rem; } header nav { gap: 0; } header nav a { padding: 0.35rem 0.55rem; }
  .panel { padding: 0.9rem; } .wide { display: none; } .what .narrow { display: block; } .charts { --gutter: 4.3rem; } .card .timer { font-size: 3.3rem; }
  .numbers { grid-template-columns: repeat(2, minmax(0, 1fr)); } .numbers .big dd { font-size: 1.4rem; }
  th, td { padding: 0.45rem 0.35rem; font-size: 0.9rem; } .what { min-width: 7rem; } table.periods :is(th, td):nth-child(n + 5) { display: none; } .compared :is(th, td) { font-size: 0.84rem; padding-inline: 0.25rem; } .compared td { white-space: nowrap; overflow-wrap: normal; } .axis span:nth-child(even) { display: none; }
  .room-table .column-pace { display: none; } .room-table caption { padding-inline: 0.35rem; }
  .splits .name { min-width: 3.4rem; } .readout { min-height: 2.9em; }
  .bars { margin-left: 3.7rem; } .switches { width: 100%; }
}
@media (prefers-reduced-motion: reduce) { .island { transition: none; } }
@media print {
  :root, :root[data-theme="dark"], :root:not([data-theme="light"]) { --paper: #fff; --panel: #fff; --sunk: #eee; --ink: #000; --soft: #444; --line: #ccc; --edge: #888; --pace: #0a5cad; --heart: #b3233a; --height: #4d6a22; --second: #9a4a00; --run: #17733a; --shadow: none; color-scheme: light; }
  header, .told, #banner, .slide, .way, .skip, .readout, .dots, .cursor, .owned, .title, dialog { display: none !important; }
  body { font-size: 12px; print-color-adjust: exact; -webkit-print-color-adjust: exact; } main { padding: 0; max-width: none; } .panel { break-inside: avoid; border-radius: 8px; } .picture { grid-template-columns: 2fr 3fr; }
}

"""#

  static let page_js = #"""
// The page: chooses the view by the address, and holds the switches. One file of a record is made of all modules, each behind those
// that it imports.
import { element } from "./element.js";
import { choices, choose, loadChoices, word } from "./format.js";
import { showLive } from "./live.js";
import { drawRecord, showComparison, showRecord, showRecords, showStatistics } from "./records.js";

const main = document.getElementById("main");
const banner = document.getElementById("banner");
const told = document.getElementById("told");
const tiles = document.documentElement.dataset.tiles || null;
const file = document.getElementById("record");
const toldFor = 8000;
let leave = null;
let visit = 0;
let silence = null;

/// Says a sentence for some time, aloud with a screen reader.
function tell(text, milliseconds = toldFor) {
  clearTimeout(silence);
  told.textContent = text;
  if (text) silence = setTimeout(() => { told.textContent = ""; }, milliseconds);
}

function applyChoices() {
  document.documentElement.lang = choices.language;
  document.documentElement.dataset.theme = choices.theme;
  for (const node of document.querySelectorAll("[data-word]")) node.textContent = word(node.dataset.word);
  for (const node of document.querySelectorAll("[data-label]")) node.setAttribute("aria-label", word(node.dataset.label));
  document.getElementById("language").textContent = word("languageSwitch");
  document.getElementById("language").lang = choices.language === "ko" ? "en" : "ko";
  const units = document.getElementById("units");
  units.textContent = word(choices.units === "mi" ? "unitsMi" : "unitsKm");
  units.setAttribute("aria-label", word("unitsAre", { units: units.textContent }));
  document.getElementById("theme").textContent = word({ auto: "themeAuto", light: "themeLight", dark: "themeDark" }[choices.theme]);
}

async function show() {
  visit += 1;
  const mine = visit;
  if (leave) leave();
  leave = null;
  if (file) return drawRecord(main, JSON.parse(file.textContent), tiles, null);
  const [view, ...rest] = location.hash.replace(/^#\/?/, "").split("/");
  const isOf = { records: "records", compare: "records", stats: "stats" }[view] || "";
  for (const link of document.querySelectorAll("header nav a")) {
    const isHere = link.getAttribute("href") === `#/${isOf}`;
    if (isHere) link.setAttribute("aria-current", "page"); else link.removeAttribute("aria-current");
  }
  if (view === "") {
    leave = showLive(main, tell, banner, tiles);
    return null;
  }
  document.title = `${word(isOf === "stats" ? "statistics" : "records")} · RunBus`;
  // A view is drawn into a box of its own: an answer that comes after the reader went on is dropped with it.
  const box = element("div", {}, element("p", { class: "empty" }, word("loading")));
  main.replaceChildren(box);
  try {
    if (view === "records" && rest[0]) await showRecord(box, rest[0], tiles, tell);
    else if (view === "records") await showRecords(box);
    else if (view === "compare" && rest[1]) await showComparison(box, rest[0], rest[1]);
    else if (view === "stats") await showStatistics(box, ["week", "month", "year"].includes(rest[0]) ? rest[0] : "month");
    else location.hash = "#/";
  } catch (error) {
    if (mine !== visit) return null;
    const text = error.status === 403 ? word("refusedHere") : error.status === 404 ? word("notKept") : word("failed", { reason: error.message });
    box.replaceChildren(element("h1", {}, word(isOf === "stats" ? "statistics" : "records")), element("p", { class: "empty", role: "alert" }, text));
  }
  return null;
}

function change(name, value) {
  choose(name, value);
  applyChoices();
  show();
}

document.getElementById("language").addEventListener("click", () => change("language", choices.language === "ko" ? "en" : "ko"));
document.getElementById("units").addEventListener("click", () => change("units", choices.units === "mi" ? "km" : "mi"));
document.getElementById("theme").addEventListener("click", () => {
  choose("theme", { auto: "light", light: "dark", dark: "auto" }[choices.theme]);
  applyChoices();
});
document.querySelector(".skip").addEventListener("click", (event) => {
  // The address is the view's.
  event.preventDefault();
  main.focus();
});
window.addEventListener("hashchange", () => {
  tell("");
  show();
  window.scrollTo(0, 0);
  main.focus({ preventScroll: true });
});
loadChoices();
applyChoices();
if (file) for (const node of document.querySelectorAll("header nav, .skip")) node.remove();
show();

"""#

  static let picture_js = #"""
// The picture of a run: its route and its charts under one cursor; and the charts of two runs.
import { makeCharts } from "./charts.js";
import { clock, difference, distance, heartRate, height, isKnown, pace, roundDistance, unitMeters, word } from "./format.js";
import { element, panel } from "./element.js";
import { makeRoute } from "./route.js";
import { gapOf, indexAt, kinds, meanOf, sentenceOf } from "./samples.js";

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

/// The headings of the charts of one run: what it is on average.
function headingsOf(samples, totals) {
  const average = (text) => (text === "–" ? "" : word("averageIs", { value: text }));
  const climbed = isKnown(totals.elevationGainMeters) ? word("climbedIs", { value: height(totals.elevationGainMeters) }) : "";
  return [
    average(pace(totals.averagePaceSecondsPerKilometer)), average(heartRate(totals.averageHeartRateBpm)),
    [average(height(meanOf(kinds[2], samples))), climbed].filter(Boolean).join(" · "),
  ];
}

/// Route and charts of a run with one cursor over all of them; the cursor stays where it is when they are updated.
export function makeRun(tiles) {
  let samples = [];
  let places = [];
  let totals = {};
  const route = makeRoute(tiles, (at) => charts.move(at));
  const charts = makeCharts(word("cursor"), (at, numbers) => {
    if (at === null) return word(totals.isOn ? "soFar" : "wholeRun", { time: clock(totals.elapsedSeconds), distance: distance(totals.distanceMeters) });
    const sample = samples[indexAt(places, at)] || {};
    return [clock(at), distance(sample.distanceMeters), ...kinds.map((kind, index) => kind.text(numbers[index]))].join(" · ");
  }, (at) => route.show(at));
  const note = element("p", { class: "legend" }, element("span", { class: "band", "aria-hidden": "true" }), word("shaded"));
  /// `points` are those of `/api/route`; `pauses` are stretches of run time; `newTotals` are the numbers of the whole run.
  function update(points, newSamples, duration, pauses, newTotals) {
    [samples, totals] = [newSamples, newTotals];
    places = samples.map((sample) => sample.offsetSeconds);
    route.update(points, samples, totals.isOn === true);
    note.hidden = !pauses.length;
    charts.update(
      [{ places, samples, gap: gapOf(places) }], duration, pauses.map((pause) => ({ from: pause.startedAtSeconds, to: pause.endedAtSeconds })),
      kinds.map((kind) => sentenceOf(kind, samples)), { scale: 1, isTime: true, text: clock }, headingsOf(samples, totals));
  }
  return {
    node: element("div", { class: "picture" }, panel(word("route"), route.node), panel(word("charts"), charts.node, note)),
    update,
    updateFrom(record) {
      update(pointsOf(record), samplesOf(record), Math.max(1, record.summary.elapsedSeconds), record.pauses || [], record.summary);
    },
  };
}

/// Charts of two runs over distance with one cursor: `runs` are two lists of samples that have a distance, `sentences` say
/// what the charts of pace, heart rate and elevation show, `headings` what they have on average.
export function makeComparison(runs, sentences, headings) {
  const lines = runs.map((samples) => ({ samples, gap: Infinity, places: samples.map((sample) => sample.distanceMeters) }));
  const ends = lines.map((line) => line.places[line.places.length - 1] || 0);
  const charts = makeCharts(word("cursorPlace"), (place) => {
    // Where the shorter run ends the difference says the most.
    const at = place ?? Math.floor(Math.min(...ends));
    const times = lines.map((line) => (line.places.length && at <= line.places[line.places.length - 1] ? line.samples[indexAt(line.places, at)].activeSeconds : null));
    return word("comparedAt", { distance: distance(at), first: clock(times[0]), second: clock(times[1]), difference: difference(times[0], times[1], clock) });
  }, () => {});
  charts.update(lines, Math.max(1, ...ends), [], sentences, { scale: 1 / unitMeters(), isTime: false, text: roundDistance }, headings);
  return charts.node;
}

"""#

  static let records_js = #"""
// The runs that are kept: the list, one run, two runs compared, statistics.
import { load } from "./api.js";
import { barsMax, drawBars, drawSplits } from "./bars.js";
import { element, panel, scroller, setText, values } from "./element.js";
import { cadence, choices, clock, dayOf, difference, distance, energy, hasWord, heartRate, height, isKnown, longStartOf, pace, periodName, startOf, titleOf, word } from "./format.js";
import { makeTools } from "./owner.js";
import { makeComparison, makeRun, samplesOf } from "./picture.js";

function bestName(meters) {
  const key = `best_${Math.floor(meters)}`;
  return hasWord(key) ? word(key) : distance(meters);
}

function paceOf(one) { return pace(one.activeSeconds / one.distanceMeters * 1000); }

/// A table with names of columns; the first cell of a row names the row. A cell is text or an element.
function drawTable(names, rows, className) {
  return element(
    "table", { class: className },
    element("thead", {}, element("tr", {}, names.map((name, index) => (name === "" ? element("td") : element("th", { scope: "col", class: index ? "number" : null }, name))))),
    element("tbody", {}, rows.map(([name, ...cells]) => element("tr", {}, element("th", { scope: "row" }, name), cells.map((cell) => element("td", { class: "number" }, cell))))));
}

// MARK: The list

// What was searched for and chosen stays while the reader looks at a run.
const list = { search: "", sort: "date", chosen: [] };

export async function showRecords(main) {
  const { records } = await load("/api/records");
  list.chosen = list.chosen.filter((id) => records.some((record) => record.runId === id));
  const search = element("input", { type: "search", id: "search", autocomplete: "off", value: list.search });
  const sort = element("select", { id: "sort" }, ["date", "distance", "pace"].map((name) => element("option", { value: name, selected: name === list.sort }, word("sort_" + name))));
  const count = element("p", { class: "count", role: "status" });
  const compare = element("a", { class: "button main", href: "#/records" }, word("compareChosen"));
  const hint = element("p", { class: "hint" });
  const body = element("tbody");

  function rowOf(record) {
    const box = element("input", {
      type: "checkbox", "aria-label": word("chooseRun", { title: `${titleOf(record)}, ${startOf(record)}` }), checked: list.chosen.includes(record.runId),
      onchange: (event) => {
        list.chosen = list.chosen.filter((id) => id !== record.runId);
        if (event.target.checked) list.chosen.push(record.runId);
        updateCompare();
      },
    });
    return element(
      "tr", {},
      element(
        "td", { class: "what" }, element("a", { href: `#/records/${record.runId}` }, titleOf(record)),
        element("small", {}, [startOf(record), record.deviceId, record.conflicted ? word("conflicted") : ""].filter(Boolean).join(" · ")),
        element("small", { class: "narrow" }, `${clock(record.activeSeconds)} · ${pace(record.averagePaceSecondsPerKilometer)}`)),
      element("td", { class: "number" }, distance(record.distanceMeters)), element("td", { class: "number wide" }, clock(record.activeSeconds)),
      element("td", { class: "number wide" }, pace(record.averagePaceSecondsPerKilometer)), element("td", { class: "number wide" }, heartRate(record.averageHeartRateBpm)),
      element("td", { class: "number wide" }, height(record.elevationGainMeters)), element("td", { class: "choice" }, element("label", {}, box)));
  }

  function update() {
    [list.search, list.sort] = [search.value, sort.value];
    const parts = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    const shown = records.filter((record) => {
      const text = [titleOf(record), record.note, startOf(record), longStartOf(record), record.startedAt, record.deviceId].join(" ").toLowerCase();
      return parts.every((part) => text.includes(part));
    });
    const valueOf = {
      date: (record) => -record.startedAtUnixSeconds, distance: (record) => -(record.distanceMeters || 0),
      pace: (record) => record.averagePaceSecondsPerKilometer || Infinity,
    }[sort.value];
    shown.sort((a, b) => (valueOf(a) < valueOf(b) ? -1 : valueOf(a) > valueOf(b) ? 1 : 0));
    setText(count, shown.length === 0 ? word("noMatch") : word(shown.length === 1 ? "runCountOne" : "runCount", { count: shown.length }));
    table.hidden = shown.length === 0;
    body.replaceChildren(...shown.map(rowOf));
  }

  function updateCompare() {
    const isReady = list.chosen.length === 2;
    compare.hidden = !isReady;
    if (isReady) {
      // The earlier run is the first one, whichever was chosen first.
      const [first, second] = records.filter((record) => list.chosen.includes(record.runId)).sort((a, b) => a.startedAtUnixSeconds - b.startedAtUnixSeconds);
      compare.href = `#/compare/${first.runId}/${second.runId}`;
    }
    hint.hidden = isReady;
    setText(hint, word(["compareHint", "compareOneMore"][list.chosen.length] || "compareTooMany"));
  }

  const names = ["run", "distance", "time", "pace", "heartRate", "climbed", "choose"];
  const table = scroller(word("records"), element(
    "table", { class: "records" }, element("thead", {}, element("tr", {}, names.map((name, index) => element(
      "th", { scope: "col", class: [null, "number", "number wide", "number wide", "number wide", "number wide", "choice"][index] }, word(name))))), body));
  const title = element("h1", {}, word("records"));
  if (!records.length) {
    main.replaceChildren(title, element("section", { class: "panel nothing" }, element("p", {}, word("noRecords"))));
    return;
  }
  search.addEventListener("input", update);
  sort.addEventListener("change", update);
  update();
  updateCompare();
  main.replaceChildren(
    title,
    element(
      "div", { class: "tools" },
      element("div", { class: "field grow" }, element("label", { for: "search" }, word("search")), search),
      element("div", { class: "field" }, element("label", { for: "sort" }, word("sortBy")), sort)),
    element("div", { class: "line" }, count, hint, compare), table);
}

// MARK: One run

function numbersOf(record) {
  const { summary, report: { metrics } } = record;
  return [
    [word("distance"), distance(summary.distanceMeters), "big"], [word("activeTime"), clock(summary.activeSeconds), "big"],
    [word("averagePace"), pace(summary.averagePaceSecondsPerKilometer), "big"], [word("averageHeartRate"), heartRate(summary.averageHeartRateBpm), "big"],
    [word("elapsed"), clock(summary.elapsedSeconds)], [word("climbed"), height(summary.elevationGainMeters)],
    [word("highestHeartRate"), heartRate(metrics.maxHeartRateBpm)], [word("cadence"), cadence(metrics.averageCadenceStepsPerMinute)],
    [word("energy"), energy(summary.energyJoules)], [word("laps"), isKnown(metrics.lapCount) ? String(metrics.lapCount) : "–"],
    ...(isKnown(summary.goalSeconds) ? [[word("goal"), clock(summary.goalSeconds)]] : []),
  ];
}

/// `tools` are what the owner can do with the run; a file has none.
export function drawRecord(main, record, tiles, tools) {
  const { summary } = record;
  const bests = summary.bests || [];
  const run = makeRun(tiles);
  const laps = record.report.laps || [];
  document.title = `${titleOf(summary)} · RunBus`;
  run.updateFrom(record);
  main.replaceChildren(
    tools ? element("p", { class: "way" }, element("a", { href: "#/records" }, `← ${word("backToRecords")}`)) : "",
    tools ? tools.heading : element("h1", {}, titleOf(summary)),
    element("p", { class: "when" }, [longStartOf(summary), summary.deviceId, summary.conflicted ? word("conflicted") : ""].filter(Boolean).join(" · ")),
    summary.note ? element("p", { class: "owner" }, summary.note) : "",
    tools ? tools.node : "",
    element("div", { class: "panel" }, values("numbers four", numbersOf(record).slice(0, 4)), values("numbers six", numbersOf(record).slice(4))),
    run.node,
    element(
      "div", { class: "columns" },
      panel(word("splits"), drawSplits(record.report, false)),
      laps.length ? panel(word("laps"), drawSplits(record.report, true)) : "",
      bests.length ? panel(word("bestsOfRun"), values("bests", bests.map((best) => [bestName(best.distanceMeters), `${clock(best.activeSeconds)} · ${paceOf(best)}`]))) : ""));
}

export async function showRecord(main, id, tiles, tell) {
  // A run is shown, also where nobody answers what can be done with it.
  const asked = load("/api/owner").catch(() => ({ canChange: false, formats: [] }));
  const [record, owner] = await Promise.all([load(`/api/records/${encodeURIComponent(id)}`), asked]);
  drawRecord(main, record, tiles, makeTools(record.summary, owner, tell));
}

// MARK: Two runs

export async function showComparison(main, firstID, secondID) {
  const runs = await Promise.all([firstID, secondID].map((id) => load(`/api/records/${encodeURIComponent(id)}`)));
  const [first, second] = runs.map((run) => run.summary);
  document.title = `${word("compareTitle")} · RunBus`;
  const rows = [
    ["distance", "distanceMeters", distance], ["activeTime", "activeSeconds", clock], ["elapsed", "elapsedSeconds", clock],
    ["averagePace", "averagePaceSecondsPerKilometer", pace], ["averageHeartRate", "averageHeartRateBpm", heartRate],
    ["climbed", "elevationGainMeters", height], ["energy", "energyJoules", energy],
  ].map(([name, key, text]) => [word(name), text(first[key]), text(second[key]), difference(first[key], second[key], text)]);
  const name = (summary, isSecond) => element(
    "span", { class: "who" }, element("span", { class: isSecond ? "key second" : "key", "aria-hidden": "true" }),
    element("a", { href: `#/records/${summary.runId}` }, titleOf(summary)), element("small", {}, startOf(summary)));
  const splitsOf = (run) => (choices.units === "mi" ? run.report.miles : run.report.kilometers).filter((split) => split.complete);
  const [firstSplits, secondSplits] = runs.map(splitsOf);
  const splits = Array.from({ length: Math.max(firstSplits.length, secondSplits.length) }, (_, index) => {
    const [a, b] = [firstSplits[index], secondSplits[index]].map((split) => (split ? split.paceSecondsPerKilometer : null));
    return [String(index + 1), pace(a), pace(b), difference(a, b, pace)];
  });
  const names = ["", name(first, false), name(second, true), word("difference")];
  const splitNames = [word("split"), word("first"), word("second"), word("difference")];
  const sentences = [
    word("words_mean", { first: pace(first.averagePaceSecondsPerKilometer), second: pace(second.averagePaceSecondsPerKilometer) }),
    word("words_mean", { first: heartRate(first.averageHeartRateBpm), second: heartRate(second.averageHeartRateBpm) }),
    word("words_climbed", { first: height(first.elevationGainMeters), second: height(second.elevationGainMeters) }),
  ];
  const averages = (key, text) => word("averageIs", { value: `${text(first[key])}  ${text(second[key])}  (${difference(first[key], second[key], text)})` });
  const headings = [
    averages("averagePaceSecondsPerKilometer", pace), averages("averageHeartRateBpm", heartRate),
    [word("climbed"), height(first.elevationGainMeters), height(second.elevationGainMeters), `(${difference(first.elevationGainMeters, second.elevationGainMeters, height)})`].join("  "),
  ];
  const samples = runs.map((run) => samplesOf(run).filter((sample) => isKnown(sample.distanceMeters)));
  main.replaceChildren(
    element("p", { class: "way" }, element("a", { href: "#/records" }, `← ${word("backToRecords")}`)),
    element("h1", {}, word("compareTitle")),
    scroller(word("compareTitle"), drawTable(names, rows, "compared")),
    panel(
      word("overDistance"), element(
        "p", { class: "legend" }, element("span", { class: "key", "aria-hidden": "true" }), word("first"), element("span", { class: "key second", "aria-hidden": "true" }), word("second")),
      samples.some((one) => one.length > 1) ? makeComparison(samples, sentences, headings) : element("p", { class: "empty" }, word("noChart"))),
    panel(word("splits"), splits.length ? drawTable(splitNames, splits, "compared") : element("p", { class: "empty" }, word("noSplits"))));
}

// MARK: Statistics

function trendSentence(trend, unit) {
  if (!trend || !isKnown(trend.distanceMetersPerPeriod) || !isKnown(trend.periods)) return "";
  const before = trend.distanceMetersPerPeriodBefore;
  const change = isKnown(before) && before > 0 ? trend.distanceMetersPerPeriod / before - 1 : null;
  const percent = change === null ? "" : Math.round(Math.abs(change) * 100);
  return word(change === null ? "trendAlone" : change >= 0 ? "trendMore" : "trendLess", {
    mean: distance(trend.distanceMetersPerPeriod), unit: word("per_" + unit), count: trend.periods, percent,
  });
}

export async function showStatistics(main, unit) {
  const { periods, bests, longest, trend } = await load(`/api/stats?by=${unit}`);
  const tabs = element("nav", { class: "tabs", "aria-label": word("period") }, ["week", "month", "year"].map((name) => element(
    "a", { href: `#/stats/${name}`, class: "button", "aria-current": name === unit ? "true" : null }, word("by_" + name))));
  const title = element("h1", {}, word("statistics"));
  const ran = periods.filter((period) => period.count > 0);
  if (!ran.length) {
    main.replaceChildren(title, element("section", { class: "panel nothing" }, element("p", {}, word("noRecords"))));
    return;
  }
  const sum = (key) => ran.reduce((all, period) => all + (period[key] || 0), 0);
  const sentence = trendSentence(trend, unit);
  const best = (name, one, value) => [name, element("a", { href: `#/records/${one.runId}` }, value), one];
  const found = bests.map((one) => best(bestName(one.distanceMeters), one, clock(one.activeSeconds)));
  if (longest) found.push(best(word("longest"), longest, distance(longest.distanceMeters)));
  const names = ["period", "runs", "distance", "activeTime", "pace", "climbed"].map((name) => word(name));
  const rows = [...ran].reverse().map((period) => [
    periodName(period.period), String(period.count), distance(period.distanceMeters), clock(period.activeSeconds), pace(period.averagePaceSecondsPerKilometer), height(period.elevationGainMeters)]);
  main.replaceChildren(
    title, tabs,
    element("div", { class: "panel" }, values("numbers four", [
      [word("runs"), String(sum("count")), "big"], [word("distance"), distance(sum("distanceMeters")), "big"], [word("activeTime"), clock(sum("activeSeconds")), "big"],
      [word("climbed"), height(sum("elevationGainMeters")), "big"]])),
    panel(
      word("distance_" + unit), drawBars(periods, trend),
      periods.length > barsMax ? element("p", { class: "words" }, word("drawnLast", { count: barsMax, all: periods.length })) : null,
      sentence ? element("p", { class: "words" }, sentence) : null),
    panel(word("bests"), element("dl", { class: "bests" }, found.map(([name, link, one]) => element(
      "div", { class: "metric" }, element("dt", {}, name), element("dd", {}, link, ` · ${isKnown(one.activeSeconds) ? paceOf(one) : "–"}`, element("small", {}, dayOf(one.startedAtUnixSeconds))))))),
    scroller(word("statistics"), drawTable(names, rows, "periods")));
}

"""#

  static let room_js = #"""
// The room of the runner: who is in, what it waits for, the countdown, who is ahead, the result.
import { element, setText } from "./element.js";
import { clock, distance, exactDistance, hasWord, height, isKnown, pace, span, word } from "./format.js";

// From when on a standing says how old it is, seconds; as the phone's own limit.
const standingFor = 9;
// The columns of numbers.
const roomNumbers = ["distance", "behind", "pace"];

/// The names of members by their ids; two alike have the first digits of their keys.
function memberNames(members) {
  return Object.fromEntries(members.map(({ id, nickname }) => {
    const isDouble = members.filter((other) => other.nickname === nickname).length > 1;
    return [id, isDouble ? `${nickname} (${id.slice(0, 4)})` : nickname];
  }));
}

/// `Starts in 4 s`, rounded up so that it ends with 1. A lock screen counts in the same way.
export function countdownText(seconds) {
  return seconds > 0 ? word("startsIn", { time: span(Math.ceil(seconds)) }) : word("startsNow");
}

/// `2 of 4 · 120 m behind`.
export function placeText({ place, count, behindMeters }) {
  const parts = [word("placeOf", { place, count })];
  if (isKnown(behindMeters)) parts.push(word("metersBehind", { distance: height(behindMeters) }));
  return parts.join(" · ");
}

/// Something that the runner should notice, in a sentence; nothing for what this page does not know.
export function cueText({ cue, nickname }) {
  return hasWord("cue_" + cue) ? word("cue_" + cue, { nickname: nickname || word("anotherRunner") }) : "";
}

function stageText(room) {
  if (room.settled && hasWord("settled_" + room.settled)) return word("settled_" + room.settled);
  return word("roomStage_" + (hasWord("roomStage_" + room.stage) ? room.stage : "unknown"));
}

/// What the room waits for, and how far the runner is from its start.
function gateText(room, own) {
  const names = memberNames(room.members);
  const missing = (isThere) => room.members.filter((member) => !isThere(member)).map((member) => (member.you ? word("you") : names[member.id])).join(", ");
  const parts = [];
  const isOwner = own !== undefined && own.owner;
  if (room.gate === "open") parts.push(word(isOwner ? "gate_openOwn" : "gate_open"));
  if (room.gate === "tooFew") parts.push(word("gate_tooFew"));
  if (room.gate === "notReady") parts.push(word("gate_notReady", { names: missing((member) => member.ready) }));
  if (room.gate === "notHere") parts.push(word("gate_notHere", { names: missing((member) => member.here) }));
  if (room.gate && isKnown(room.toStartMeters) && own !== undefined && !own.here) parts.push(word("fromStart", { distance: height(room.toStartMeters) }));
  return parts.join(" · ");
}

/// What makes the room uncertain.
function doubtText(room, own, isBlind) {
  const parts = [];
  if (room.lost) parts.push(word("roomLost"));
  if (room.provisional) parts.push(word("roomProvisional"));
  if (room.members.length && own === undefined) parts.push(word("roomNoPlace"));
  if (isBlind) parts.push(word("roomAsHeard"));
  return parts.join(" · ");
}

/// The place of a member in the table: by the result, else by the standings, else as it came.
function rankedMembers(members) {
  const key = ({ finish, standing }) => [finish?.place ?? Infinity, standing?.place ?? Infinity];
  return members.map((member, index) => [member, [...key(member), index]])
    .sort(([, a], [, b]) => (a[0] === b[0] ? (a[1] === b[1] ? a[2] - b[2] : a[1] - b[1]) : a[0] - b[0]))
    .map(([member]) => member);
}

/// How many are in, and how many may be while others can enter.
function placesText({ stage, members, places }) {
  return stage === "recruiting" ? word("placesTaken", { count: members.length, places }) : word("runnersIn", { count: members.length });
}

/// The table of a stage: its caption, the names of its columns behind that of the runner, and what makes the cells of a member.
/// `passed` is how long ago the view came, real seconds.
function tableOf(room, passed) {
  const runners = placesText(room);
  if (room.members.some(({ finish }) => finish)) {
    return {
      caption: word("result"), columns: ["place", "distance", "outcome"],
      cells: ({ finish }) => (finish ? [
        String(finish.place), `${exactDistance(finish.distanceMeters)}${isKnown(finish.distanceMeters) && !finish.confirmed ? ` (${word("unconfirmed")})` : ""}`,
        finish.outcome && hasWord("outcome_" + finish.outcome) ? word("outcome_" + finish.outcome) : "–",
      ] : ["–", "–", "–"]),
    };
  }
  if (["running", "settling", "over"].includes(room.stage)) {
    return {
      caption: word("standings"), columns: ["place", "distance", "behind", "pace", "heard"],
      cells: ({ standing }) => {
        if (!standing) return ["–", "–", "–", "–", word("notHeard")];
        const age = isKnown(standing.ageSeconds) ? standing.ageSeconds + passed : null;
        const isStale = standing.stale || (age !== null && age >= standingFor);
        const state = standing.phase && standing.phase !== "running" && hasWord("phase_" + standing.phase) ? word("phase_" + standing.phase) : "";
        return [
          isKnown(standing.place) ? String(standing.place) : "–", distance(standing.distanceMeters),
          isKnown(standing.behindMeters) ? height(standing.behindMeters) : standing.place === 1 ? word("ahead") : "–",
          pace(standing.paceSecondsPerKilometer), isStale ? (age === null ? word("notHeard") : word("heardAgo", { age: span(age) })) : state,
        ];
      },
    };
  }
  if (room.stage === "gathering") return { caption: runners, columns: ["atStart"], cells: ({ here }) => [word(here ? "isHere" : "isNotHere")] };
  if (room.stage === "recruiting") {
    return { caption: runners, columns: ["ready", "level"], cells: ({ ready, level }) => [word(ready ? "isReady" : "isNotReady"), String(level)] };
  }
  return { caption: runners, columns: ["level"], cells: ({ level }) => [String(level)] };
}

/// The panel of the room. `tell` says what is to be heard: that a countdown has begun or was held, and cues, each once.
export function makeRoom(tell) {
  const stage = element("p", { class: "room-stage" });
  const facts = element("p", { class: "room-facts" });
  const gate = element("p", { class: "room-gate" });
  const doubt = element("p", { class: "room-doubt" });
  const caption = element("caption");
  const [head, body] = [element("tr"), element("tbody")];
  const table = element("table", { class: "room-table" }, caption, element("thead", {}, head), body);
  const node = element("section", { class: "panel room", "aria-label": word("room"), hidden: true }, element("h2", {}, word("room")), stage, facts, gate, doubt, table);
  let room = null;
  let cameAt = 0;
  let isBlind = false;
  let shape = "";
  let toldCue = null;
  let before = null;

  /// Draws the rows; cells that exist stay, so that a selection stays and nothing is read anew.
  function drawRows(passed) {
    const { caption: title, columns, cells } = tableOf(room, passed);
    const members = rankedMembers(room.members);
    const names = memberNames(room.members);
    const labels = members.map((member) => [names[member.id], ...[member.you ? word("you") : "", member.owner ? word("owner") : ""].filter(Boolean)].join(" · "));
    setText(caption, title);
    const newShape = JSON.stringify([columns, members.map(({ id, you }) => [id, you])]);
    if (newShape !== shape) {
      shape = newShape;
      const isRanked = columns[0] === "place";
      const order = isRanked ? ["place", "runner", ...columns.slice(1)] : ["runner", ...columns];
      const classOf = (name) => (roomNumbers.includes(name) ? `number column-${name}` : `column-${name}`);
      head.replaceChildren(...order.map((name) => element("th", { scope: "col", class: classOf(name) }, word("column_" + name))));
      body.replaceChildren(...members.map((member) => {
        const rest = columns.map((name) => element("td", { class: classOf(name) }));
        const name = element("th", { scope: "row" });
        return element("tr", { class: member.you ? "own" : null }, isRanked ? [rest[0], name, ...rest.slice(1)] : [name, ...rest]);
      }));
    }
    members.forEach((member, index) => {
      const row = body.children[index];
      setText(row.querySelector("th"), labels[index]);
      const texts = cells(member);
      row.querySelectorAll("td").forEach((cell, column) => setText(cell, texts[column]));
    });
  }

  function tick() {
    if (!room) return;
    const passed = Math.max(0, Date.now() - cameAt) / 1000;
    const isCounting = room.stage === "countdown" && isKnown(room.startsInSeconds);
    setText(stage, isCounting ? countdownText(room.startsInSeconds - passed) : stageText(room));
    drawRows(passed);
  }

  /// Says what has changed since the view before.
  function announce(cue) {
    const now = room ? `${room.room} ${room.stage}` : null;
    if (room && now !== before) {
      if (room.stage === "countdown" && isKnown(room.startsInSeconds)) tell(countdownText(room.startsInSeconds));
      if (room.stage === "recruiting" && before === `${room.room} countdown`) tell(word("countdownHeld"));
    }
    before = now;
    if (cue && cue.number !== toldCue) {
      toldCue = cue.number;
      const text = cueText(cue);
      if (text) tell(text);
    }
  }

  return {
    node, tick,
    /// `next` is the room of a view that has just come, `cue` what is to be noticed.
    show(next, cue, isOutOfReach) {
      [room, cameAt, isBlind] = [next, Date.now(), isOutOfReach];
      node.hidden = room === null;
      announce(cue);
      if (!room) return;
      const own = room.members.find((member) => member.you);
      node.dataset.stage = room.stage;
      node.classList.toggle("blind", isBlind);
      setText(facts, [
        isKnown(room.goalSeconds) ? word("roomGoal", { goal: clock(room.goalSeconds) }) : "", placesText(room), room.matched ? word("matched") : "",
        room.start ? word("roomStart", { place: room.start }) : "",
      ].filter(Boolean).join(" · "));
      for (const [line, text] of [[gate, gateText(room, own)], [doubt, doubtText(room, own, isBlind)]]) {
        setText(line, text);
        line.hidden = text === "";
      }
      gate.classList.toggle("open", room.gate === "open");
      tick();
    },
  };
}

"""#

  static let route_js = #"""
// The route of a run as a drawing, with or without a map.
import { choices, distance, isKnown, pace, roundDistance, unitMeters, word } from "./format.js";
import { drawing, element } from "./element.js";
import { boundsOf, gapOf, indexAt, kinds, sampleAt, valueOf } from "./samples.js";

const paceKind = kinds[0];

/// A position on a map in Mercator's projection, in units of the width of the world.
function project(latitude, longitude) {
  const radians = Math.max(-85, Math.min(85, latitude)) * Math.PI / 180;
  return [(longitude + 180) / 360, (1 - Math.log(Math.tan(radians) + 1 / Math.cos(radians)) / Math.PI) / 2];
}

const mapWidth = 400;
const mapMargin = 26;

/// The colours of a route, slow to fast; `page.css` has as many.
const huesMost = 5;
/// Between two arrows on a route, and from an arrow to a mark, in units of the drawing.
const arrowEvery = 46;
const arrowRoom = 12;
/// Marks of start and end that are nearer are drawn beside each other.
const marksApart = 16;

/// The route as a line in the colours of its pace, north up, with arrows, marks for its start, its end and each kilometre or mile,
/// and one that follows the cursor.
export function makeRoute(tiles, onMove) {
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
    /// `samples` have the paces; of a run that is `isOn` the end is where the runner is.
    update(points, samples, isOn) {
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
      const path = places.map((place, index) => `${index && !points[index][5] ? "L" : "M"}${spot(place)}`).join("");
      const hues = huesOf(samples);
      const metersPerUnit = 40_075_017 * Math.cos(points[0][1] * Math.PI / 180) / scale;
      const length = points[points.length - 1][3];
      svg = drawing(
        "svg", { viewBox: `0 0 ${mapWidth} ${mapHeight.toFixed(0)}`, class: "route", role: "img", "aria-label": routeSentence(length, hues) },
        tiles ? drawTiles(tiles, middle, scale, mapHeight) : null,
        drawing("path", { d: path, class: "edge" }), hues ? drawHues(points, places, samples, hues) : drawing("path", { d: path, class: "line" }),
        drawUnits(points, places, length), drawArrows(points, places, length), drawEnds(places, isOn), mark, drawScale(metersPerUnit, mapHeight));
      svg.addEventListener("pointermove", move);
      svg.addEventListener("pointerdown", move);
      node.replaceChildren(svg, drawLegend(hues, isOn), tiles ? element("p", { class: "source" }, word("tilesFrom", { host: hostOf(tiles) })) : "");
    },
    show(at) {
      mark.toggleAttribute("hidden", at === null);
      if (!places.length || at === null) return;
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

// MARK: Pace as colour

function spot([x, y]) { return `${x.toFixed(1)} ${y.toFixed(1)}`; }

/// The slowest and the fastest pace that have a colour of their own, in whole steps of five seconds; `null` where paces are not known.
function huesOf(samples) {
  const bounds = boundsOf(samples.map((sample) => valueOf(paceKind, sample)), paceKind.smallest, true);
  if (!bounds) return null;
  const step = 5 / paceKind.scale();
  return { fast: Math.floor(bounds.low / step) * step, slow: Math.ceil(bounds.high / step) * step };
}

/// The number of the colour of a pace, 0 for the slowest; `null` for none.
function hueOf(value, { fast, slow }) {
  if (value === null) return null;
  return Math.max(0, Math.min(huesMost - 1, Math.floor((slow - value) / (slow - fast) * huesMost)));
}

/// The places along a route with the run time of each and whether the line begins anew: those of its points, and one for each
/// sample between two of them, because a straight line of many paces has two points only.
function stepsAlong(points, places, samples) {
  const steps = [];
  let next = 0;
  points.forEach((point, index) => {
    const [time, meters] = [point[0], point[3]];
    const before = points[index - 1];
    for (; next < samples.length && samples[next].offsetSeconds < time; next += 1) {
      const sample = samples[next];
      if (!before || point[5] || sample.offsetSeconds <= before[0]) continue;
      const way = meters - before[3];
      const share = way > 0 && isKnown(sample.distanceMeters) ? (sample.distanceMeters - before[3]) / way : (sample.offsetSeconds - before[0]) / (time - before[0]);
      const [from, to] = [places[index - 1], places[index]];
      const along = Math.max(0, Math.min(1, share));
      steps.push({ time: sample.offsetSeconds, place: [from[0] + (to[0] - from[0]) * along, from[1] + (to[1] - from[1]) * along], isNew: false });
    }
    steps.push({ time, place: places[index], isNew: index === 0 || point[5] === 1 });
  });
  return steps;
}

/// The route in the colours of its pace: neighbours of one colour are one path.
function drawHues(points, places, samples, hues) {
  // Of a long run not each sample has a place of its own.
  const every = Math.max(1, Math.ceil(samples.length / 1500));
  const some = samples.filter((_, index) => index % every === 0);
  const steps = stepsAlong(points, places, some);
  const times = some.map((sample) => sample.offsetSeconds);
  const line = { places: times, values: some.map((sample) => valueOf(paceKind, sample)), last: some.length - 1, gap: gapOf(times), reach: gapOf(times) };
  const group = drawing("g", { class: "hues" });
  let [path, hue] = ["", undefined];
  const close = () => { if (path) group.append(drawing("path", { d: path, class: hue === null ? "line unknown" : `line hue${hue}` })); };
  steps.forEach((step, index) => {
    if (step.isNew) return;
    const before = steps[index - 1];
    const found = sampleAt(line, (before.time + step.time) / 2);
    const own = found < 0 ? null : hueOf(line.values[found], hues);
    if (before.isNew || own !== hue) {
      close();
      [path, hue] = [`M${spot(before.place)}`, own];
    }
    path += `L${spot(step.place)}`;
  });
  close();
  return group;
}

function routeSentence(length, hues) {
  const known = word("routeWords", { distance: distance(length) });
  return hues ? `${known}. ${word("routeHues", { slow: pace(hues.slow), fast: pace(hues.fast) })}` : known;
}

/// What the marks and the colours of a route mean.
function drawLegend(hues, isOn) {
  const sign = (shape) => drawing("svg", { viewBox: "-9 -9 18 18", class: "sample", "aria-hidden": "true" }, shape);
  return element(
    "p", { class: "legend" },
    element("span", { class: "entry" }, sign(startShape()), word("routeStart")), element("span", { class: "entry" }, sign(endShape(isOn)), word(isOn ? "routeNow" : "routeEnd")),
    hues ? element(
      "span", { class: "entry paces" }, word("slow", { pace: pace(hues.slow) }),
      element("span", { class: "swatches", "aria-hidden": "true" }, Array.from({ length: huesMost }, (_, index) => element("span", { class: `hue${index}` }))),
      word("fast", { pace: pace(hues.fast) })) : null);
}

// MARK: Start, end and direction

function startShape() {
  return drawing("g", { class: "begin" }, drawing("circle", { r: 7.5 }), drawing("path", { d: "M-2.4 -3.8L4 0L-2.4 3.8Z" }));
}

function endShape(isOn) {
  return isOn
    ? drawing("g", { class: "present" }, drawing("circle", { r: 6.5 })) : drawing("g", { class: "end" }, drawing("rect", { x: -6.5, y: -6.5, width: 13, height: 13, rx: 2 }));
}

/// The marks of start and end; where a loop closes they stand beside each other.
function drawEnds(places, isOn) {
  const [first, last] = [places[0], places[places.length - 1]];
  const [begin, end] = [startShape(), endShape(isOn)];
  let [from, to] = [first, last];
  if (Math.hypot(last[0] - first[0], last[1] - first[1]) < marksApart) {
    const middle = [(first[0] + last[0]) / 2, (first[1] + last[1]) / 2];
    [from, to] = [[middle[0] - marksApart / 2, middle[1]], [middle[0] + marksApart / 2, middle[1]]];
  }
  begin.setAttribute("transform", `translate(${spot(from)})`);
  end.setAttribute("transform", `translate(${spot(to)})`);
  return drawing("g", { "aria-hidden": "true" }, end, begin);
}

/// Where a route is at each of several ways along its drawing, and where it goes there; nothing where the line begins anew.
function arrowsOf(points, places) {
  const ways = [0];
  for (let index = 1; index < places.length; index += 1) {
    const step = points[index][5] ? 0 : Math.hypot(places[index][0] - places[index - 1][0], places[index][1] - places[index - 1][1]);
    ways.push(ways[index - 1] + step);
  }
  const all = ways[ways.length - 1];
  const at = (way) => {
    const index = Math.min(indexAt(ways, way), places.length - 2);
    const share = ways[index + 1] > ways[index] ? (way - ways[index]) / (ways[index + 1] - ways[index]) : 0;
    return { index, place: [0, 1].map((axis) => places[index][axis] + (places[index + 1][axis] - places[index][axis]) * share) };
  };
  const count = Math.max(1, Math.min(60, Math.round(all / arrowEvery)));
  return Array.from({ length: count }, (_, index) => (index + 0.5) * all / count).flatMap((way) => {
    // Over a short stretch: a single step of a receiver may go anywhere.
    const [before, here, after] = [at(Math.max(0, way - 4)), at(way), at(Math.min(all, way + 4))];
    const isWhole = points.slice(before.index + 1, after.index + 2).every((point) => !point[5]);
    const [dx, dy] = [after.place[0] - before.place[0], after.place[1] - before.place[1]];
    return isWhole && Math.hypot(dx, dy) > 1 ? [{ place: here.place, degrees: Math.atan2(dy, dx) * 180 / Math.PI }] : [];
  });
}

/// Arrows in the direction of the run, where they cover no mark.
function drawArrows(points, places, length) {
  const taken = [places[0], places[places.length - 1], ...unitsOf(points, length).map(({ index }) => places[index])];
  const isFree = ({ place }) => taken.every((mark) => Math.hypot(mark[0] - place[0], mark[1] - place[1]) > arrowRoom);
  return drawing("g", { class: "arrows", "aria-hidden": "true" }, arrowsOf(points, places).filter(isFree).map(({ place, degrees }) => drawing(
    "path", { d: "M-3.4 -4.2L4.4 0L-3.4 4.2L-1.6 0Z", transform: `translate(${spot(place)}) rotate(${degrees.toFixed(0)})` })));
}

// MARK: Marks and scale

/// The points at which a kilometre or mile ends, and their numbers; fewer of them on a long route.
function unitsOf(points, length) {
  const step = unitMeters() * [1, 2, 5, 10, 20, 50, 100].find((many) => length / unitMeters() / many <= 14 || many === 100);
  let next = step;
  return points.flatMap((point, index) => {
    if (!isKnown(point[3]) || point[3] < next) return [];
    const meters = Math.floor(point[3] / step) * step;
    next = meters + step;
    return next > 1e7 ? [] : [{ index, number: Math.round(meters / unitMeters()) }];
  });
}

function drawUnits(points, places, length) {
  return drawing("g", { class: "units", "aria-hidden": "true" }, unitsOf(points, length).map(({ index, number }) => {
    const [x, y] = places[index];
    return [drawing("circle", { r: 7.5, cx: x, cy: y }), drawing("text", { x, y: y + 3.2 }, String(number))];
  }));
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

"""#

  static let samples_js = #"""
// What the samples of a run have for a drawing: values, their bounds, the gaps between them, and sentences about them.
import { clock, heartRate, height, heightMeters, isKnown, isPace, pace, unitMeters, word } from "./format.js";

/// The values that have charts. `scale` makes the number of an axis of a value: seconds for the reader's unit, feet.
export const kinds = [
  { key: "paceSecondsPerKilometer", name: "pace", text: pace, inverted: true, smallest: 20, isTime: true, scale: () => unitMeters() / 1000 },
  { key: "heartRateBpm", name: "heartRate", text: heartRate, inverted: false, smallest: 6, isTime: false, scale: () => 1 },
  { key: "altitudeMeters", name: "elevation", text: height, inverted: false, smallest: 10, isTime: false, scale: () => 1 / heightMeters() },
];

/// What a sample has for a chart; `null` where it has nothing that can be drawn.
export function valueOf(kind, sample) {
  const value = sample[kind.key];
  return (kind.text === pace ? isPace : isKnown)(value) ? value : null;
}

/// The extremes of a value, outliers of one in fifty cut off at either side for the drawing only. A pace that is much slower
/// than the usual one, as on foot after a pause, is cut off, too: it would press the rest into a line.
export function boundsOf(values, smallest, cutsSlow) {
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
export function gapOf(offsets) {
  const steps = offsets.slice(1).map((offset, index) => offset - offsets[index]).sort((a, b) => a - b);
  return Math.max(30, 3 * (steps[steps.length >> 1] || 0));
}

/// The number of the last sample at or before a place; 0 before the first.
export function indexAt(places, at) {
  let [low, high] = [0, places.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (places[middle] <= at) low = middle + 1; else high = middle;
  }
  return Math.max(0, low - 1);
}

/// The number of the sample that a line has at a place; -1 in a gap. Behind its end a line has its last value for a while, because
/// readings are current for a while.
export function sampleAt({ places, values, last, gap, reach }, at) {
  const index = Math.min(indexAt(places, at), last);
  const isThere = index >= 0 && isKnown(values[index]) && Math.abs(at - places[index]) <= (index === last ? reach : gap);
  return isThere ? index : -1;
}

/// What a chart shows, in words: its extremes and when they were.
export function sentenceOf(kind, samples) {
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

/// The mean of what samples have for a chart; `null` without any.
export function meanOf(kind, samples) {
  const known = samples.map((sample) => valueOf(kind, sample)).filter(isKnown);
  return known.length ? known.reduce((sum, value) => sum + value, 0) / known.length : null;
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
  switches: { en: "Language, units and colours", ko: "언어, 단위, 색상" },
  unitsAre: { en: "Units: {units}", ko: "단위: {units}" },

  reconnecting: { en: "The page has lost its connection and is connecting again.", ko: "연결이 끊어져 다시 연결하는 중입니다." },
  tooManyViewers: { en: "Eight viewers are looking already. This page tries again every ten seconds.", ko: "이미 여덟 화면이 보고 있습니다. 10초마다 다시 시도합니다." },
  refusedHere: { en: "This page is not let in: open the link that busnode web printed.", ko: "접속할 수 없습니다. busnode web이 출력한 링크를 여세요." },
  notKept: { en: "No such run is kept here.", ko: "여기에 저장된 달리기가 아닙니다." },
  loading: { en: "Loading", ko: "불러오는 중" },
  failed: { en: "This could not be loaded: {reason}", ko: "불러오지 못했습니다: {reason}" },
  seconds: { en: "{count} s", ko: "{count}초" },
  steps: { en: "{count} spm", ko: "분당 {count}걸음" },

  lockScreen: { en: "Lock screen", ko: "잠금 화면" },
  island: { en: "Live activity, short form", ko: "실시간 현황, 간단히" },
  noActivity: { en: "No run yet", ko: "아직 달리기가 없습니다" },
  phase_idle: { en: "Ready", ko: "준비" },
  phase_running: { en: "Running", ko: "달리는 중" },
  phase_paused: { en: "Paused", ko: "일시 정지" },
  phase_completed: { en: "Finished", ko: "완료" },
  phase_unknown: { en: "Unknown", ko: "알 수 없음" },
  recovering: { en: "The phone came back in the run: press a button to go on or to stop", ko: "휴대폰이 다시 켜졌습니다. 버튼을 눌러 계속하거나 정지하세요" },
  autoPaused: { en: "auto-pause", ko: "자동 일시 정지" },
  replaySpeed: { en: "A replay: {speed} times as fast", ko: "재생 중: {speed}배 속도" },
  activeTime: { en: "Active time", ko: "운동 시간" },
  distance: { en: "Distance", ko: "거리" },
  pace: { en: "Pace", ko: "페이스" },
  averagePace: { en: "Average pace", ko: "평균 페이스" },
  heartRate: { en: "Heart rate", ko: "심박수" },
  currentPace: { en: "Current pace", ko: "현재 페이스" },
  currentHeartRate: { en: "Current heart rate", ko: "현재 심박수" },
  averageHeartRate: { en: "Average heart rate", ko: "평균 심박수" },
  highestHeartRate: { en: "Highest heart rate", ko: "최고 심박수" },
  cadence: { en: "Cadence", ko: "케이던스" },
  elevation: { en: "Elevation", ko: "고도" },
  climbed: { en: "Climbed", ko: "오른 높이" },
  energy: { en: "Energy", ko: "에너지" },
  laps: { en: "Laps", ko: "랩" },
  elapsed: { en: "Elapsed", ko: "총 시간" },
  goal: { en: "Goal", ko: "목표" },
  goalLeft: { en: "Goal {goal}: {left} left", ko: "목표 {goal}: {left} 남음" },
  goalReached: { en: "Goal {goal} reached", ko: "목표 {goal} 달성" },
  staleCard: { en: "No news for {age}", ko: "{age} 동안 소식 없음" },
  hubLost: { en: "The phone is silent: the run may have stopped", ko: "휴대폰 응답 없음: 달리기가 멈췄을 수 있습니다" },
  hubAway: { en: "The phone was ended: this is its last state", ko: "휴대폰이 종료되었습니다. 마지막 상태입니다" },
  noPhone: { en: "Nothing came from the phone yet", ko: "아직 휴대폰에서 온 것이 없습니다" },
  hubUnreachable: { en: "The phone is out of reach: presses wait here", ko: "휴대폰에 연결할 수 없습니다. 누른 버튼은 여기서 기다립니다" },
  refused: { en: "The phone does not let this page in: {reason}", ko: "휴대폰이 이 페이지를 거부했습니다: {reason}" },
  changedBy: { en: "from {source}", ko: "{source}에서" },

  command_start: { en: "Start", ko: "시작" },
  command_pause: { en: "Pause", ko: "일시 정지" },
  command_resume: { en: "Resume", ko: "계속" },
  command_stop: { en: "Stop", ko: "정지" },
  command_lap: { en: "Lap", ko: "랩" },
  verdict_pending: { en: "{command} waits for its verdict", ko: "{command}: 판정을 기다립니다" },
  verdict_unheard: { en: "{command} reached the phone; its verdict was not heard here", ko: "{command}: 휴대폰에 전해졌지만 판정을 듣지 못했습니다" },
  verdict_queued: { en: "{command} waits for the phone", ko: "{command}: 휴대폰을 기다립니다" },
  verdict_applied: { en: "{command} took effect", ko: "{command}: 적용됨" },
  verdict_coalesced: { en: "{command} was already asked for and counts once", ko: "{command}: 이미 요청되어 한 번만 셉니다" },
  verdict_superseded: { en: "{command} was undone by a later press", ko: "{command}: 나중에 누른 버튼으로 취소됨" },
  verdict_rejected: { en: "{command} was rejected", ko: "{command}: 거절됨" },
  verdict_unknown: { en: "{command} has a verdict that this version does not know", ko: "{command}: 알 수 없는 판정" },
  reason_illegal_idle: { en: "no run has been started", ko: "시작된 달리기가 없습니다" },
  reason_illegal_running: { en: "the run is already on", ko: "이미 달리는 중입니다" },
  reason_illegal_paused: { en: "the run is paused", ko: "달리기가 일시 정지되어 있습니다" },
  reason_illegal_startPaused: { en: "a run is already on, and paused", ko: "이미 시작한 달리기가 일시 정지되어 있습니다" },
  reason_illegal_completed: { en: "the run is already completed", ko: "달리기가 이미 완료되었습니다" },
  reason_illegal_unknown: { en: "the run's phase does not allow it", ko: "지금 상태에서는 할 수 없습니다" },
  reason_otherRun: { en: "it was meant for another run", ko: "다른 달리기를 위한 것입니다" },
  reason_staleRevision: { en: "the run had changed meanwhile", ko: "그 사이에 달리기가 바뀌었습니다" },
  reason_revisionChanged: { en: "the run was at another revision", ko: "달리기가 다른 상태에 있었습니다" },
  reason_tooOld: { en: "it is too old", ko: "너무 오래되었습니다" },
  reason_busy: { en: "the phone is busy", ko: "휴대폰이 바쁩니다" },
  reason_cancelled: { en: "it was cancelled", ko: "취소되었습니다" },
  reason_expired: { en: "it has expired", ko: "만료되었습니다" },
  reason_unsupported: { en: "the phone does not know it", ko: "휴대폰이 모르는 명령입니다" },
  reason_quarantined: { en: "it could not be read and was set aside", ko: "읽을 수 없어 따로 보관되었습니다" },
  reason_other: { en: "reason: {reason}", ko: "이유: {reason}" },
  pressAgain: { en: "Press again to stop", ko: "다시 누르면 정지" },
  stopAsks: { en: "Press Stop again within three seconds: a stop cannot be taken back", ko: "3초 안에 정지를 다시 누르세요. 정지는 되돌릴 수 없습니다" },
  noAnswer: { en: "no answer yet: it may still count", ko: "아직 답이 없으며, 나중에 적용될 수 있습니다" },
  pressFailed: { en: "{command} was not taken: {reason}", ko: "{command}: 처리되지 않음: {reason}" },

  room: { en: "Room", ko: "방" },
  roomStage_recruiting: { en: "Waiting for runners", ko: "멤버 대기 중" },
  roomStage_gathering: { en: "Gathering at the start", ko: "출발점에 집합 중" },
  roomStage_countdown: { en: "Countdown", ko: "카운트다운" },
  roomStage_running: { en: "Running together", ko: "함께 달리는 중" },
  roomStage_settling: { en: "The run is over", ko: "달리기가 끝났습니다" },
  roomStage_over: { en: "The room is over", ko: "방이 끝났습니다" },
  roomStage_cancelled: { en: "The room was cancelled", ko: "방이 취소되었습니다" },
  roomStage_unknown: { en: "A stage that this version does not know", ko: "알 수 없는 단계" },
  settled_provisional: { en: "Result so far: records are missing", ko: "잠정 결과: 아직 오지 않은 기록이 있습니다" },
  settled_complete: { en: "Result: all records are in", ko: "결과: 모든 기록이 도착했습니다" },
  settled_final: { en: "Final result", ko: "최종 결과" },
  startsIn: { en: "Starts in {time}", ko: "{time} 후 시작" },
  startsNow: { en: "Starts now", ko: "지금 시작" },
  countdownHeld: { en: "The countdown was held: nobody is ready", ko: "카운트다운이 중단되었습니다. 아무도 준비되지 않았습니다" },
  roomGoal: { en: "Goal {goal}", ko: "목표 {goal}" },
  roomStart: { en: "Start: {place}", ko: "출발점: {place}" },
  placesTaken: { en: "{count} of {places} runners", ko: "러너 {count}/{places}명" },
  runnersIn: { en: "{count} runners", ko: "러너 {count}명" },
  matched: { en: "matched", ko: "매칭됨" },
  gate_open: { en: "All is ready: the owner goes on", ko: "모두 준비됨: 방장이 진행합니다" },
  gate_openOwn: { en: "All is ready: you can go on", ko: "모두 준비됨: 진행할 수 있습니다" },
  gate_tooFew: { en: "Waits for another runner", ko: "다른 러너를 기다립니다" },
  gate_notReady: { en: "Waits for {names} (not ready)", ko: "{names} 기다리는 중 (준비 안 됨)" },
  gate_notHere: { en: "Waits for {names} (not at the start)", ko: "{names} 기다리는 중 (출발점에 없음)" },
  fromStart: { en: "you are {distance} from the start", ko: "출발점까지 {distance}" },
  roomLost: { en: "The log has lost this room", ko: "로그에서 이 방이 사라졌습니다" },
  roomProvisional: { en: "By the clock: the log does not say so yet", ko: "시계 기준이며, 아직 로그에는 없습니다" },
  roomNoPlace: { en: "You have no place in it", ko: "이 방에 자리가 없습니다" },
  roomAsHeard: { en: "As it was when the phone was last heard", ko: "휴대폰에서 마지막으로 들은 상태입니다" },
  you: { en: "you", ko: "나" },
  owner: { en: "owner", ko: "방장" },
  anotherRunner: { en: "Another runner", ko: "다른 러너" },
  standings: { en: "Standings", ko: "현재 순위" },
  result: { en: "Result", ko: "결과" },
  column_runner: { en: "Runner", ko: "러너" },
  column_level: { en: "Level", ko: "레벨" },
  column_ready: { en: "Ready", ko: "준비" },
  column_atStart: { en: "At the start", ko: "출발점" },
  column_place: { en: "Place", ko: "순위" },
  column_distance: { en: "Distance", ko: "거리" },
  column_behind: { en: "Behind", ko: "차이" },
  column_pace: { en: "Pace", ko: "페이스" },
  column_heard: { en: "State", ko: "상태" },
  column_outcome: { en: "Outcome", ko: "승패" },
  isReady: { en: "ready", ko: "준비됨" },
  isNotReady: { en: "not ready", ko: "준비 안 됨" },
  isHere: { en: "there", ko: "도착" },
  isNotHere: { en: "not there", ko: "아직" },
  ahead: { en: "ahead", ko: "선두" },
  notHeard: { en: "not heard yet", ko: "아직 소식 없음" },
  unconfirmed: { en: "unconfirmed", ko: "미확인" },
  outcome_won: { en: "won", ko: "이겼다" },
  outcome_lost: { en: "lost", ko: "졌다" },
  outcome_drawn: { en: "drawn", ko: "비겼다" },
  placeOf: { en: "{place} of {count}", ko: "{count}명 중 {place}위" },
  metersBehind: { en: "{distance} behind", ko: "{distance} 뒤" },
  cue_started: { en: "The run of the room has started", ko: "방의 달리기가 시작되었습니다" },
  cue_overtaken: { en: "{nickname} is ahead of you now", ko: "{nickname}: 앞질러 갔습니다" },
  cue_won: { en: "You have won", ko: "이겼습니다" },
  cue_drawn: { en: "Drawn: you share the first place", ko: "비겼습니다: 공동 1위" },
  cue_lost: { en: "You have lost", ko: "졌습니다" },
  cue_cancelled: { en: "The room is over for you before its run", ko: "달리기 전에 방이 끝났습니다" },

  controls: { en: "Controls", ko: "조작" },
  now: { en: "Now", ko: "지금" },
  route: { en: "Route", ko: "경로" },
  charts: { en: "Charts", ko: "그래프" },
  cursor: { en: "Moment of the run", ko: "달리기의 시점" },
  cursorPlace: { en: "Place in the runs", ko: "달리기의 지점" },
  shaded: { en: "Shaded: paused", ko: "음영: 일시 정지" },
  tilesFrom: { en: "Map: {host}", ko: "지도: {host}" },
  noRoute: { en: "No positions yet", ko: "아직 위치 정보가 없습니다" },
  noChart: { en: "Not enough values for a chart", ko: "그래프를 그릴 값이 부족합니다" },
  routeStart: { en: "Start", ko: "출발" },
  routeEnd: { en: "End", ko: "도착" },
  routeNow: { en: "Now", ko: "현재" },
  slow: { en: "Slow {pace}", ko: "느림 {pace}" },
  fast: { en: "{pace} fast", ko: "{pace} 빠름" },
  routeHues: { en: "Its colours show the pace, from {slow} to {fast}", ko: "색은 페이스를 나타냅니다: {slow}부터 {fast}까지" },
  averageIs: { en: "Average {value}", ko: "평균 {value}" },
  climbedIs: { en: "climbed {value}", ko: "오른 높이 {value}" },
  wholeRun: { en: "The whole run: {time} · {distance}", ko: "전체: {time} · {distance}" },
  soFar: { en: "So far: {time} · {distance}", ko: "지금까지: {time} · {distance}" },
  showAll: { en: "All", ko: "전체" },
  showAverages: { en: "Averages of the whole run", ko: "전체 평균 보기" },
  routeWords: { en: "Route of {distance}", ko: "{distance} 경로" },
  words_pace: { en: "Fastest {low} at {lowAt}, slowest {high} at {highAt}", ko: "가장 빠름 {low} ({lowAt}), 가장 느림 {high} ({highAt})" },
  words_heartRate: { en: "Highest {high} at {highAt}, lowest {low} at {lowAt}", ko: "최고 {high} ({highAt}), 최저 {low} ({lowAt})" },
  words_elevation: { en: "From {low} at {lowAt} to {high} at {highAt}", ko: "최저 {low} ({lowAt}), 최고 {high} ({highAt})" },
  words_mean: { en: "On average {first} in the first run, {second} in the second", ko: "평균: 첫째 {first}, 둘째 {second}" },
  words_climbed: { en: "Climbed {first} in the first run, {second} in the second", ko: "오른 높이: 첫째 {first}, 둘째 {second}" },
  words_splits: { en: "Fastest: {best} in {low}; slowest: {worst} in {high}", ko: "가장 빠름: {best} ({low}), 가장 느림: {worst} ({high})" },
  barsBegin: { en: "The shortest bar is {slow} or slower, the longest {fast}.", ko: "가장 짧은 막대는 {slow} 이하, 가장 긴 막대는 {fast}입니다." },
  comparedAt: { en: "{distance} · first {first} · second {second} · {difference}", ko: "{distance} · 첫째 {first} · 둘째 {second} · {difference}" },
  splits: { en: "Splits", ko: "구간" },
  split: { en: "Split", ko: "구간" },
  noSplits: { en: "No splits yet", ko: "아직 구간이 없습니다" },
  lapName: { en: "Lap {number}", ko: "랩 {number}" },
  devices: { en: "Devices", ko: "기기" },
  here: { en: "here", ko: "연결됨" },
  gone: { en: "gone", ko: "끊김" },
  notKnown: { en: "not known", ko: "알 수 없음" },
  roundTrip: { en: "round trip", ko: "왕복" },
  heardAgo: { en: "heard {age} ago", ko: "{age} 전 응답" },
  waitingFor: { en: "{count} wait for it", ko: "대기 {count}건" },
  noDevices: { en: "No other device yet", ko: "아직 다른 기기가 없습니다" },
  commands: { en: "Commands", ko: "명령" },
  noCommands: { en: "No presses since this page was started", ko: "이 페이지가 시작된 뒤로 누른 버튼이 없습니다" },
  earlierCommands: { en: "Earlier: {count}", ko: "이전 명령 {count}개" },
  fromDevice: { en: "{device}, {source}, {time}", ko: "{device}, {source}, {time}" },
  fromSame: { en: "{device}, {time}", ko: "{device}, {time}" },
  source_phone: { en: "phone", ko: "휴대폰" },
  source_watch: { en: "watch", ko: "시계" },
  source_liveActivity: { en: "lock screen", ko: "잠금 화면" },
  source_shell: { en: "shell", ko: "셸" },
  source_widget: { en: "lock screen", ko: "위젯" },
  source_recovery: { en: "recovery", ko: "복구" },
  source_other: { en: "other", ko: "기타" },
  source_room: { en: "room", ko: "방" },
  source_page: { en: "page", ko: "페이지" },

  search: { en: "Search", ko: "검색" },
  sortBy: { en: "Sort by", ko: "정렬" },
  sort_date: { en: "date", ko: "날짜" },
  sort_distance: { en: "distance", ko: "거리" },
  sort_pace: { en: "pace", ko: "페이스" },
  untitled_morning: { en: "Morning run", ko: "아침 달리기" },
  untitled_midday: { en: "Midday run", ko: "점심 달리기" },
  untitled_afternoon: { en: "Afternoon run", ko: "오후 달리기" },
  untitled_evening: { en: "Evening run", ko: "저녁 달리기" },
  untitled_night: { en: "Night run", ko: "밤 달리기" },
  choose: { en: "Compare", ko: "비교" },
  chooseRun: { en: "Compare {title}", ko: "{title} 비교에 넣기" },
  compareChosen: { en: "Compare the two runs", ko: "두 달리기 비교" },
  compareHint: { en: "Choose two runs to compare them.", ko: "비교할 달리기 두 개를 선택하세요." },
  compareOneMore: { en: "Choose one more run to compare.", ko: "비교할 달리기를 하나 더 선택하세요." },
  compareTooMany: { en: "Choose only two runs to compare.", ko: "비교할 달리기는 두 개만 선택하세요." },
  noRecords: { en: "No runs yet: a run is kept when it is stopped.", ko: "아직 기록이 없습니다. 달리기를 정지하면 저장됩니다." },
  noMatch: { en: "No run matches.", ko: "일치하는 달리기가 없습니다." },
  runCount: { en: "{count} runs", ko: "달리기 {count}개" },
  runCountOne: { en: "1 run", ko: "달리기 1개" },
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
  rename: { en: "Rename", ko: "이름 바꾸기" },
  titleLabel: { en: "Title", ko: "제목" },
  save: { en: "Save", ko: "저장" },
  cancel: { en: "Cancel", ko: "취소" },
  renamed: { en: "This run is called {title} now", ko: "이제 이 달리기의 제목은 {title}입니다" },
  exportRun: { en: "Export", ko: "내보내기" },
  deleteRun: { en: "Delete", ko: "삭제" },
  deleteSure: { en: "Delete for good", ko: "완전히 삭제" },
  deleteAsks: { en: "Delete {title}?", ko: "{title}: 삭제할까요?" },
  deleteWarns: { en: "The run of {start}, {distance}, is deleted on the phone and on all devices. Only an export brings it back.", ko: "{start}의 달리기({distance})가 휴대폰과 모든 기기에서 삭제됩니다. 내보낸 파일로만 되살릴 수 있습니다." },
  deleted: { en: "{title} is deleted", ko: "{title}: 삭제되었습니다" },
  changeFailed: { en: "This did not work: {reason}", ko: "하지 못했습니다: {reason}" },
  compareTitle: { en: "Two runs compared", ko: "두 달리기 비교" },
  difference: { en: "Difference", ko: "차이" },
  first: { en: "First", ko: "첫째" },
  second: { en: "Second", ko: "둘째" },
  overDistance: { en: "Over distance", ko: "거리에 따라" },
  period: { en: "Period", ko: "기간" },
  by_week: { en: "Week", ko: "주" },
  by_month: { en: "Month", ko: "월" },
  by_year: { en: "Year", ko: "연도" },
  weekLong: { en: "Week {week}, {year}", ko: "{year}년 {week}주" },
  weekShortYear: { en: "W{week}, {year}", ko: "{year}년 {week}주" },
  weekShort: { en: "W{week}", ko: "{week}주" },
  per_week: { en: "week", ko: "주" },
  per_month: { en: "month", ko: "개월" },
  per_year: { en: "year", ko: "년" },
  distance_week: { en: "Distance by week", ko: "주별 거리" },
  distance_month: { en: "Distance by month", ko: "월별 거리" },
  distance_year: { en: "Distance by year", ko: "연도별 거리" },
  barsWords: { en: "{count} periods, the most in {period}: {most}", ko: "기간 {count}개, 최대 {period}: {most}" },
  runs: { en: "Runs", ko: "달리기" },
  drawnLast: { en: "The last {count} of {all} are drawn; the table below has all with runs", ko: "{all}개 가운데 마지막 {count}개만 그렸고, 아래 표에는 달리기가 있는 기간이 모두 있습니다" },
  trendMore: { en: "{mean} a {unit} on average over the last {count}, {percent} % more than over the {count} before", ko: "최근 {count}{unit} 평균 {mean}, 그 이전보다 {percent} % 많음" },
  trendLess: { en: "{mean} a {unit} on average over the last {count}, {percent} % less than over the {count} before", ko: "최근 {count}{unit} 평균 {mean}, 그 이전보다 {percent} % 적음" },
  trendAlone: { en: "{mean} a {unit} on average over the last {count}", ko: "최근 {count}{unit} 평균 {mean}" },
};

"""#
}
