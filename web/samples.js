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
