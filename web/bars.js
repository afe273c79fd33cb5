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
