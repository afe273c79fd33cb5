// The present run: the lock-screen card and the island, which draw a push and nothing else, and the dashboard.
import { follow, load, press } from "./api.js";
import { drawSplits, makeRun } from "./charts.js";
import { drawing, element, panel, setText } from "./element.js";
import { cadence, clock, commandName, distance, energy, hasWord, heartRate, height, isKnown, milliseconds, pace, phaseName, sourceName, span, timeOfDay, verdictText, word } from "./format.js";

const buttonsOf = {
  idle: ["start"], running: ["pause", "lap", "stop"], paused: ["resume", "lap", "stop"], completed: ["start"],
  unknown: ["pause", "resume", "stop"],
};
const routeEvery = 3000;
const commandsShown = 6;

/// What a push says about now: active time, whether it is stale, how old it is. `at` is when the push came, by Date.now(),
/// which goes on while the machine sleeps.
export function presentOf(live, at, now) {
  const passed = Math.max(0, (now - at) / 1000);
  return {
    seconds: live.activeSeconds + (live.clockTicks ? ((live.ageSeconds || 0) + passed) * live.speed : 0),
    isStale: live.stale || (isKnown(live.staleInSeconds) && passed >= live.staleInSeconds),
    age: (live.pushAgeSeconds ?? live.ageSeconds ?? 0) + passed,
  };
}

// MARK: Buttons

/// Presses of this page that wait for the phone: their verdict is told when it comes.
const waiting = new Set();

function pressButton(command, source, tell) {
  return element("button", {
    type: "button", class: `press ${command}`, "data-command": command,
    onclick: async (event) => {
      const button = event.currentTarget;
      button.setAttribute("aria-busy", "true");
      try {
        const receipt = await press(command, source);
        if (receipt.commandId && (receipt.receipt ?? "queued") === "queued") waiting.add(receipt.commandId);
        tell(verdictText({ command, receipt: "queued", ...receipt }));
      } catch (error) {
        const reason = error.status === 403 ? word("refusedHere") : error.name === "TimeoutError" ? word("noAnswer") : error.message;
        tell(word("pressFailed", { command: commandName(command), reason }));
      }
      button.removeAttribute("aria-busy");
    },
  }, commandName(command));
}

/// Shows buttons for commands; those that exist stay, so that the focus stays.
function updateButtons(box, commands, source, pending, tell) {
  const present = [...box.children].map((button) => button.dataset.command);
  if (present.join() !== commands.join()) {
    const isFocused = box.contains(document.activeElement);
    box.replaceChildren(...commands.map((command) => pressButton(command, source, tell)));
    if (isFocused && box.firstChild) box.firstChild.focus();
  }
  for (const button of box.children) {
    const waits = pending.includes(button.dataset.command);
    const name = commandName(button.dataset.command);
    button.classList.toggle("waits", waits);
    setText(button, waits ? word("pendingCard", { command: name }) : name);
  }
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
  const buttons = element("div", { class: "buttons" });
  const metrics = [makeValues("metrics", names, 0), makeValues("metrics", names, 0)];
  const card = element(
    "section", { class: "card", "aria-label": word("lockScreen") }, element("div", { class: "head" }, signs[0].node, phase), timer,
    metrics[0].node, note, buttons);
  const islandTimer = element("span", { class: "timer" });
  const islandPhase = element("p", { class: "phase" });
  const islandButtons = element("div", { class: "buttons" });
  const island = element(
    "details", { class: "island", onkeydown: (event) => { if (event.key === "Escape") { island.open = false; island.firstChild.focus(); } } },
    element("summary", {}, element("span", { class: "hidden" }, word("island")), signs[1].node, islandTimer),
    element("div", { class: "more" }, islandPhase, metrics[1].node, islandButtons));
  const push = element("p", { class: "push" });
  let live = null;
  let at = 0;

  function noteOf(present) {
    if (live.hubLost) return word("hubLost");
    if (present.isStale) return word("staleCard", { age: span(present.age) });
    if (live.recovering) return word("recovering");
    const waits = live.pending.map((command) => word("pendingCard", { command: commandName(command) }));
    return waits.join(", ");
  }

  function tick() {
    const present = live ? presentOf(live, at, Date.now()) : { seconds: 0, isStale: false };
    for (const node of [timer, islandTimer]) setText(node, clock(present.seconds));
    for (const node of [card, island]) node.classList.toggle("stale", live !== null && (present.isStale || live.hubLost));
    setText(note, live ? noteOf(present) : "");
    note.classList.toggle("alarm", live !== null && (present.isStale || live.hubLost));
  }

  return {
    node: element("div", { class: "stage" }, island, card, push), tick,
    show(state, time, isReachable) {
      [live, at] = [state, time];
      const shown = live ? (hasWord("phase_" + live.phase) ? live.phase : "unknown") : "idle";
      for (const sign of signs) sign.show(shown);
      for (const node of [card, island]) node.dataset.phase = shown;
      const by = live && live.changedBy ? ` · ${word("changedBy", { source: sourceName(live.changedBy) })}` : "";
      setText(phase, live ? phaseName(live.phase) + by : word(isReachable ? "noActivity" : "noPhone"));
      setText(islandPhase, phase.textContent);
      const texts = live
        ? [distance(live.distanceMeters), pace(live.paceSecondsPerKilometer ?? live.averagePaceSecondsPerKilometer), heartRate(live.heartRateBpm)]
        : ["–", "–", "–"];
      for (const list of metrics) list.show(texts);
      const kind = live && (hasWord("push_" + live.push.kind) ? live.push.kind : "unknown");
      setText(push, live ? word("pushLine", { number: live.push.number, kind: word("push_" + kind), left: live.push.budgetLeft }) : "");
      const commands = live ? buttonsOf[shown] || [] : isReachable ? ["start"] : [];
      const pending = live ? live.pending : [];
      updateButtons(buttons, commands.filter((command) => command !== "lap").slice(0, 2), "liveActivity", pending, tell);
      updateButtons(islandButtons, commands, "liveActivity", pending, tell);
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
function lineOf(view, pending) {
  const parts = [phaseName(view.state.phase)];
  if (view.state.changedBy) parts.push(word("changedBy", { source: sourceName(view.state.changedBy.source) }));
  parts.push(...[...new Set(pending)].map((command) => word("pendingCard", { command: commandName(command) })));
  if (view.state.metrics.autoPaused && view.state.phase === "running") parts.push(word("autoPaused"));
  if (view.state.recovering) parts.push(word("recovering"));
  if (view.link.refusal) parts.push(word("refused", { reason: view.link.refusal }));
  else if (view.hubLost) parts.push(word("hubLost"));
  else if (view.hubOffDuty) parts.push(word("hubAway"));
  else if (!view.link.reachable) parts.push(word("hubUnreachable"));
  return parts.join(" · ");
}

/// The view of the present run; returns what ends it.
export function showLive(main, tell, banner, tiles) {
  const lockScreen = makeLockScreen(tell);
  const line = element("p", { class: "line-of-state", role: "status" });
  const replay = element("p", { class: "replay" });
  const buttons = element("div", { class: "buttons" });
  const numbers = makeValues("numbers four", ["elapsed", "distance", "averagePace", "averageHeartRate", "highestHeartRate", "cadence", "climbed", "energy"], 4);
  const run = makeRun(tiles);
  const [splits, devices, commands] = [element("div"), element("div"), element("div")];
  const redrawDevices = makeRedrawer(devices, drawDevices);
  const redrawCommands = makeRedrawer(commands, drawCommands);
  splits.append(drawSplits(null, false));
  run.update([], [], 1, []);
  main.replaceChildren(
    element("h1", { class: "hidden" }, word("run")),
    element(
      "div", { class: "top" }, lockScreen.node,
      element(
        "section", { class: "panel now" }, element("h2", {}, word("now")), line, replay, numbers.node,
        element("h2", {}, word("controls")), buttons)),
    run.node,
    element("div", { class: "columns" }, panel(word("splits"), splits), panel(word("commands"), commands), panel(word("devices"), devices)));
  let view = null;
  let cameAt = 0;
  let shownRoute = null;
  let shownReport = null;
  let askedAt = 0;
  let isBusy = false;
  let isEnded = false;

  function tick() {
    lockScreen.tick();
    if (!view) return;
    const metrics = view.state.metrics;
    const goesOn = view.state.phase === "running" || view.state.phase === "paused";
    const passed = goesOn ? (view.state.ageSeconds || 0) + Math.max(0, Date.now() - cameAt) / 1000 * view.speed : 0;
    numbers.show([
      clock(metrics.elapsedSeconds + passed), distance(metrics.distanceMeters), pace(metrics.averagePaceSecondsPerKilometer),
      heartRate(metrics.averageHeartRateBpm), heartRate(metrics.maxHeartRateBpm), cadence(metrics.averageCadenceStepsPerMinute),
      height(metrics.elevationGainMeters), energy(metrics.energyJoules),
    ]);
  }

  async function refresh() {
    if (isBusy || !view || isEnded || Date.now() - askedAt < routeEvery) return;
    const [routeVersion, reportVersion] = [`${view.state.runId} ${view.routeVersion}`, `${view.state.runId} ${view.reportVersion}`];
    if (routeVersion === shownRoute && reportVersion === shownReport) return;
    isBusy = true;
    askedAt = Date.now();
    try {
      // Without positions only the report's version changes, and the charts go on all the same.
      const [route, series, report] = await Promise.all([load("/api/route"), load("/api/series"), load("/api/report")]);
      [shownRoute, shownReport] = [routeVersion, reportVersion];
      if (isEnded) return;
      const last = series.samples[series.samples.length - 1];
      const end = last ? last.offsetSeconds : 0;
      run.update(route.points, series.samples, Math.max(1, end, Math.min(view.state.metrics.elapsedSeconds, end + 60)), []);
      const drawn = [element("div", {}, drawSplits(report, false))];
      if (report && report.laps.length) drawn.push(element("h3", {}, word("laps")), drawSplits(report, true));
      splits.replaceChildren(...drawn);
    } catch { /* the stream says when the connection is lost; the next view tries again */ } finally { isBusy = false; }
  }

  function show(next) {
    [view, cameAt] = [next, Date.now()];
    lockScreen.show(view.live || null, cameAt, view.link.reachable);
    line.className = `line-of-state ${!view.link.reachable || view.hubLost || view.hubOffDuty ? "warn" : view.state.phase}`;
    replay.hidden = view.speed === 1;
    setText(replay, replay.hidden ? "" : word("replaySpeed", { speed: view.speed }));
    document.title = `${phaseName(view.state.phase)} · RunBus`;
    const pending = view.commands.filter((command) => command.receipt === "pending" || command.receipt === "queued").map((command) => command.command);
    setText(line, lineOf(view, pending));
    updateButtons(buttons, buttonsOf[view.predicted] || buttonsOf.unknown, "page", pending, tell);
    for (const command of view.commands) {
      if (command.receipt === "pending" || command.receipt === "queued" || !waiting.delete(command.commandId)) continue;
      tell(verdictText(command));
    }
    redrawDevices({ devices: view.devices, isReachable: view.link.reachable });
    redrawCommands(view.commands);
    tick();
    refresh();
  }

  const stop = follow(show, (state) => {
    banner.hidden = state === "open";
    setText(banner, state === "open" ? "" : word({ full: "tooManyViewers", refused: "refusedHere" }[state] || "reconnecting"));
  });
  // The clock shows whole seconds; five times a second is soon enough, and spares a phone's battery.
  const ticking = setInterval(tick, 200);
  const refreshing = setInterval(refresh, 1000);
  lockScreen.show(null, Date.now(), true);
  redrawDevices({ devices: [], isReachable: true });
  redrawCommands([]);
  return () => {
    isEnded = true;
    stop();
    clearInterval(ticking);
    clearInterval(refreshing);
    banner.hidden = true;
  };
}
