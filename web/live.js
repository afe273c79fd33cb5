// The present run: the lock-screen card and the island, which draw a push and nothing else, and the dashboard.
import { follow, load, press } from "./api.js";
import { drawRun, drawSplits } from "./charts.js";
import { element, setText } from "./element.js";
import { clock, commandName, distance, energy, hasWord, heartRate, height, milliseconds, pace, sourceName, span, timeOfDay, verdictText, word } from "./format.js";

const buttonsOf = {
  idle: ["start"], running: ["pause", "lap", "stop"], paused: ["resume", "stop"], completed: ["start"],
  unknown: ["pause", "resume", "stop"],
};

/// What a push says about now: active time, whether it is stale, how old it is. `at` is when the push came, by Date.now(),
/// which goes on while the machine sleeps.
export function presentOf(live, at, now) {
  const passed = Math.max(0, (now - at) / 1000);
  return {
    seconds: live.activeSeconds + (live.clockTicks ? (live.ageSeconds + passed) * live.speed : 0),
    isStale: live.stale || (live.staleInSeconds !== null && live.staleInSeconds !== undefined && passed >= live.staleInSeconds),
    age: live.pushAgeSeconds + passed,
  };
}

function pressButton(command, source, tell) {
  return element("button", {
    type: "button", class: `press ${command}`, "data-command": command,
    onclick: async (event) => {
      const button = event.currentTarget;
      button.setAttribute("aria-busy", "true");
      tell(verdictText({ command, receipt: "pending" }));
      try {
        tell(verdictText(await press(command, source)));
      } catch (error) {
        tell(word("pressFailed", { command: commandName(command), reason: error.message }));
      }
      button.removeAttribute("aria-busy");
    },
  }, commandName(command));
}

/// Shows buttons for commands; those that exist stay, so that the focus stays.
function updateButtons(box, commands, source, pending, tell) {
  const present = [...box.children].map((button) => button.dataset.command);
  if (present.join() !== commands.join()) {
    const focused = box.contains(document.activeElement);
    box.replaceChildren(...commands.map((command) => pressButton(command, source, tell)));
    if (focused && box.firstChild) box.firstChild.focus();
  }
  for (const button of box.children) {
    const waits = pending.includes(button.dataset.command);
    button.classList.toggle("waits", waits);
    setText(button, waits ? word("pendingCard", { command: commandName(button.dataset.command) }) : commandName(button.dataset.command));
  }
}

function metric(name) {
  const value = element("dd");
  return { value, node: element("div", { class: "metric" }, element("dt", {}, word(name)), value) };
}

/// The card of the lock screen and the island. Both draw only what was pushed.
function makeLockScreen(tell) {
  const timer = element("p", { class: "timer" });
  const phase = element("p", { class: "phase" });
  const note = element("p", { class: "note" });
  const metrics = { distance: metric("distance"), pace: metric("pace"), heartRate: metric("heartRate") };
  const buttons = element("div", { class: "buttons" });
  const push = element("p", { class: "push" });
  const list = element("dl", { class: "metrics" }, Object.values(metrics).map((one) => one.node));
  const card = element("section", { class: "card", "aria-label": word("lockScreen") }, phase, timer, list, note, buttons, push);
  const islandTimer = element("span", { class: "timer" });
  const islandMark = element("span", { class: "dot", "aria-hidden": "true" });
  const islandMore = element("span", { class: "more" });
  const island = element(
    "details", { class: "island" },
    element("summary", { "aria-label": word("island") }, islandMark, islandTimer), islandMore);
  let live = null;
  let at = 0;
  function tick() {
    const now = Date.now();
    const hasRun = live !== null;
    card.classList.toggle("none", !hasRun);
    if (!hasRun) {
      setText(phase, word("noActivity"));
      setText(timer, clock(0));
      setText(islandTimer, clock(0));
      setText(islandMore, word("noActivity"));
      return;
    }
    const present = presentOf(live, at, now);
    setText(timer, clock(present.seconds));
    setText(islandTimer, clock(present.seconds));
    for (const node of [card, island]) {
      node.classList.toggle("stale", present.isStale || live.hubLost);
      node.dataset.phase = live.phase;
    }
    const age = span(present.age);
    setText(note, live.hubLost ? word("hubLost") : present.isStale ? word("staleCard", { age }) : "");
  }
  return {
    card, island, tick,
    show(view, time) {
      [live, at] = [view, time];
      if (live) {
        const by = live.changedBy ? ` · ${word("changedBy", { source: sourceName(live.changedBy) })}` : "";
        setText(phase, live.recovering ? word("recovering") : word("phase_" + live.phase) + by);
        setText(metrics.distance.value, distance(live.distanceMeters));
        setText(metrics.pace.value, pace(live.paceSecondsPerKilometer ?? live.averagePaceSecondsPerKilometer));
        setText(metrics.heartRate.value, heartRate(live.heartRateBpm));
        setText(islandMore, `${word("phase_" + live.phase)} · ${distance(live.distanceMeters)} · ${heartRate(live.heartRateBpm)}`);
        const kind = hasWord("push_" + live.push.kind) ? live.push.kind : "unknown";
        setText(push, word("pushLine", { number: live.push.number, kind: word("push_" + kind), left: live.push.budgetLeft }));
      }
      const commands = live ? buttonsOf[live.phase] || [] : ["start"];
      updateButtons(buttons, commands.filter((command) => command !== "lap").slice(0, 2), "liveActivity", live ? live.pending : [], tell);
      tick();
    },
  };
}

function table(names, rows) {
  return element(
    "table", {}, element("thead", {}, element("tr", {}, names.map((name) => element("th", { scope: "col" }, word(name))))),
    element("tbody", {}, rows.map((cells) => element("tr", {}, cells.map((cell) => element("td", {}, cell))))));
}

function drawDevices(devices) {
  if (!devices.length) return element("p", { class: "empty" }, word("noDevices"));
  return table(["device", "state", "roundTrip", "waiting", "heard"], devices.map((device) => [
    device.deviceId, device.reachable ? word("here") : word("gone"), milliseconds(device.roundTripSeconds), String(device.waiting),
    device.heardAgeSeconds === null || device.heardAgeSeconds === undefined ? "–" : word("ago", { age: span(device.heardAgeSeconds) }),
  ]));
}

function drawCommands(commands) {
  if (!commands.length) return element("p", { class: "empty" }, word("noCommands"));
  return element("ol", { class: "commands" }, commands.map((command) => element(
    "li", { class: command.receipt }, element("span", {}, verdictText(command)),
    element("small", {}, word("fromDevice", { device: command.deviceId, source: sourceName(command.source), time: timeOfDay(command.at) })))));
}

/// The view of the present run; returns what ends it.
export function showLive(main, tell, banner, tiles) {
  const lockScreen = makeLockScreen(tell);
  const line = element("p", { class: "line-of-state" });
  const buttons = element("div", { class: "buttons" });
  const numbers = element("dl", { class: "numbers" });
  const picture = element("div");
  const splits = element("div");
  const devices = element("div");
  const commands = element("div");
  main.replaceChildren(
    element("h1", { class: "hidden" }, word("run")), lockScreen.island,
    element(
      "div", { class: "top" }, lockScreen.card,
      element("section", { class: "panel" }, element("h2", {}, word("now")), line, numbers, element("h2", {}, word("controls")), buttons)),
    picture,
    element(
      "div", { class: "columns" },
      element("section", { class: "panel" }, element("h2", {}, word("splits")), splits),
      element("section", { class: "panel" }, element("h2", {}, word("commands")), commands),
      element("section", { class: "panel" }, element("h2", {}, word("devices")), devices)));
  const keep = { share: null };
  let view = null;
  let shownRun = "";
  let shownReport = "";
  let isBusy = false;
  let isEnded = false;

  async function refresh() {
    if (isBusy || !view || isEnded) return;
    isBusy = true;
    try {
      const run = `${view.routeVersion}`;
      if (run !== shownRun || (view.state.phase === "running" && keep.share === null)) {
        const [route, series] = await Promise.all([load("/api/route"), load("/api/series")]);
        shownRun = run;
        const duration = Math.max(1, view.state.metrics.elapsedSeconds, ...series.samples.slice(-1).map((sample) => sample.offsetSeconds));
        const hasFocus = document.activeElement && document.activeElement.id === "cursor";
        if (!isEnded) picture.replaceChildren(drawRun(route.points, series.samples, duration, tiles, keep));
        if (hasFocus) document.getElementById("cursor").focus();
      }
      if (`${view.reportVersion}` !== shownReport) {
        shownReport = `${view.reportVersion}`;
        const report = await load("/api/report");
        if (report) splits.replaceChildren(drawSplits(report, false), ...(report.laps.length ? [drawSplits(report, true)] : []));
        else splits.replaceChildren(drawSplits(null, false));
      }
    } catch { /* the stream says when the connection is lost; the next view tries again */ }
    isBusy = false;
  }

  function show(next) {
    view = next;
    lockScreen.show(view.live || null, Date.now());
    const metrics = view.state.metrics;
    const parts = [word("phase_" + (hasWord("phase_" + view.state.phase) ? view.state.phase : "unknown"))];
    if (view.state.changedBy) parts.push(word("changedBy", { source: sourceName(view.state.changedBy.source) }));
    if (view.link.refusal) parts.push(word("refused", { reason: view.link.refusal }));
    else if (view.hubLost) parts.push(word("hubLost"));
    else if (view.hubOffDuty) parts.push(word("hubAway"));
    else if (!view.link.reachable) parts.push(word("hubUnreachable"));
    setText(line, parts.join(" · "));
    line.classList.toggle("warn", !view.link.reachable || view.hubLost || view.hubOffDuty);
    const values = [
      ["elapsed", clock(metrics.elapsedSeconds)], ["distance", distance(metrics.distanceMeters)], ["averagePace", pace(metrics.averagePaceSecondsPerKilometer)],
      ["averageHeartRate", heartRate(metrics.averageHeartRateBpm)], ["climbed", height(metrics.elevationGainMeters)], ["energy", energy(metrics.energyJoules)],
    ];
    numbers.replaceChildren(...values.map(([name, value]) => element("div", { class: "metric" }, element("dt", {}, word(name)), element("dd", {}, value))));
    const pending = view.commands.filter((command) => command.receipt === "pending" || command.receipt === "queued").map((command) => command.command);
    updateButtons(buttons, buttonsOf[view.predicted] || buttonsOf.unknown, "page", pending, tell);
    devices.replaceChildren(drawDevices(view.devices));
    commands.replaceChildren(drawCommands(view.commands));
    refresh();
  }

  const stop = follow(show, (state) => {
    banner.hidden = state === "open";
    setText(banner, state === "open" ? "" : word(state === "closed" ? "closed" : "reconnecting"));
  });
  const ticking = setInterval(lockScreen.tick, 200);
  const refreshing = setInterval(refresh, 3000);
  lockScreen.show(null, Date.now());
  return () => {
    isEnded = true;
    stop();
    clearInterval(ticking);
    clearInterval(refreshing);
    banner.hidden = true;
  };
}
