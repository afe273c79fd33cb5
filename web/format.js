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
