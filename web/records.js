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
