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
