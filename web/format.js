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
