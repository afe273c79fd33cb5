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
