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
