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
