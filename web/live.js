// The present run: the lock-screen card and the island, which draw a push and nothing else, and the dashboard.
import { follow, load, press } from "./api.js";
import { drawSplits } from "./bars.js";
import { makeRun } from "./picture.js";
import { countdownText, makeRoom, placeText } from "./room.js";
import { drawing, element, panel, setText } from "./element.js";
import { cadence, clock, commandName, distance, energy, hasWord, heartRate, height, isKnown, milliseconds, pace, phaseName, sourceName, span, timeOfDay, verdictText, word } from "./format.js";

// The commands that a phase takes, each at its place. A place stays empty when its command would be refused: a tap that comes
// when the phase changes meets nothing, or the opposite of what it was meant for, and no other command.
const placesOf = {
  idle: ["start", null, null], running: ["pause", "lap", "stop"], paused: ["resume", "lap", "stop"], completed: ["start", null, null],
  unknown: ["pause", "resume", "stop"],
};
const noPlaces = [null, null, null];
// A stop cannot be taken back, so it takes two presses: the second within so many milliseconds, and not so soon that it is a tap that
// bounces.
const stopWithin = 3000;
const stopAfter = 300;
const routeEvery = 3000;
const commandsShown = 6;
// How old readings may be to be called current, seconds; as the metric's own limit.
const currentFor = 30;

/// What a push says about now: active time, whether it is stale, how old it is. `at` is when the push came, by Date.now(),
/// which goes on while the machine sleeps.
export function presentOf(live, at, now) {
  const passed = Math.max(0, (now - at) / 1000);
  return {
    seconds: live.activeSeconds + (live.clockTicks ? ((live.ageSeconds || 0) + passed) * live.speed : 0),
    // Until the run of the room starts; nothing without a countdown.
    startsIn: isKnown(live.startsInSeconds) ? live.startsInSeconds - passed : null,
    isStale: live.stale || (isKnown(live.staleInSeconds) && passed >= live.staleInSeconds),
    age: (live.pushAgeSeconds ?? live.ageSeconds ?? 0) + passed,
  };
}

// MARK: Buttons

/// Presses of this page that wait for the phone: their verdict is told when it comes.
const waiting = new Set();

function makeButton(command, source, tell) {
  const name = commandName(command);
  let [isSending, askedAt, tappedAt, timer, stage] = [false, null, null, null, null];

  function draw() {
    const isArmed = askedAt !== null;
    node.classList.toggle("armed", isArmed);
    node.classList.toggle("waits", stage === "queued");
    node.classList.toggle("sent", isSending || stage === "pending");
    setText(node, isArmed ? word("pressAgain") : stage === "queued" ? word("verdict_queued", { command: name }) : name);
  }

  /// Whether a press counts: a first press on stop only asks for a second one.
  function isMeant() {
    if (command !== "stop") return true;
    const now = Date.now();
    const isTooSoon = tappedAt !== null && now - tappedAt < stopAfter;
    tappedAt = now;
    // Taps in a row are one: each begins the time anew.
    if (askedAt !== null && isTooSoon) return false;
    const isSecond = askedAt !== null && now - askedAt < stopWithin;
    clearTimeout(timer);
    askedAt = isSecond ? null : now;
    if (!isSecond) {
      timer = setTimeout(() => { askedAt = null; draw(); }, stopWithin);
      tell(word("stopAsks"), stopWithin);
    }
    draw();
    return isSecond;
  }

  async function send() {
    isSending = true;
    draw();
    try {
      const receipt = await press(command, source);
      if (receipt.commandId && ["queued", "pending"].includes(receipt.receipt)) waiting.add(receipt.commandId);
      tell(verdictText({ command, ...receipt }));
    } catch (error) {
      const reason = error.status === 403 ? word("refusedHere") : error.name === "TimeoutError" ? word("noAnswer") : error.message;
      tell(word("pressFailed", { command: name, reason }));
    }
    isSending = false;
    draw();
  }

  const node = element("button", {
    type: "button", class: `press ${command}`, "data-command": command, onclick: () => (isMeant() ? send() : null),
    // A key that is held presses once.
    onkeydown: (event) => { if (event.repeat) event.preventDefault(); },
  }, name);
  return { command, node, show(next) { stage = next; draw(); } };
}

/// Buttons in fixed places. `stages` says of a command which waits how far it is, `queued` or `pending`. Buttons that exist
/// stay, so that the focus stays.
function makeButtons(source, tell) {
  const node = element("div", { class: "buttons" });
  let buttons = [];
  return {
    node,
    show(commands, stages) {
      if (buttons.map((button) => button.command).join() !== commands.join()) {
        const focused = buttons.findIndex((button) => button.node === document.activeElement);
        buttons = commands.map((command, index) => {
          if (buttons[index] && buttons[index].command === command) return buttons[index];
          return command ? makeButton(command, source, tell) : { command, node: element("span", { class: "place" }), show() {} };
        });
        node.replaceChildren(...buttons.map((button) => button.node));
        const next = buttons[focused] && buttons[focused].command ? buttons[focused] : buttons.find((button) => button.command);
        if (focused >= 0 && next) next.node.focus();
      }
      for (const button of buttons) button.show(stages[button.command] || null);
    },
  };
}

/// How far the waiting commands of a view are. One that the phone has counts more than one that waits for it.
function stagesOf(commands) {
  const stages = {};
  for (const { command, receipt } of commands) {
    if (receipt === "pending" || (receipt === "queued" && !stages[command])) stages[command] = receipt;
  }
  return stages;
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
  const buttons = makeButtons("liveActivity", tell);
  const metrics = [makeValues("metrics", names, 0), makeValues("metrics", names, 0)];
  const card = element(
    "section", { class: "card", "aria-label": word("lockScreen") }, element("div", { class: "head" }, signs[0].node, phase), timer,
    metrics[0].node, buttons.node, note);
  const islandTimer = element("span", { class: "timer" });
  const islandPhase = element("p", { class: "phase" });
  const islandButtons = makeButtons("liveActivity", tell);
  const island = element(
    "details", { class: "island", onkeydown: (event) => { if (event.key === "Escape") { island.open = false; island.firstChild.focus(); } } },
    element("summary", {}, element("span", { class: "hidden" }, word("island")), signs[1].node, islandTimer),
    element("div", { class: "more" }, islandPhase, metrics[1].node, islandButtons.node));
  let live = null;
  let at = 0;

  function noteOf(present) {
    if (live.hubLost) return word("hubLost");
    if (present.isStale) return word("staleCard", { age: span(present.age) });
    if (live.recovering) return word("recovering");
    return [
      live.pending.map((command) => word("verdict_pending", { command: commandName(command) })).join(", "),
      // A countdown beside a run that goes on; without a run the clock shows it.
      present.startsIn !== null && live.phase !== "idle" ? countdownText(present.startsIn) : "", live.room ? placeText(live.room) : "",
    ].filter(Boolean).join(" · ");
  }

  /// What the large clock shows: active time, or in a countdown what is left of it.
  function shownSeconds(present) {
    return live && live.phase === "idle" && present.startsIn !== null ? Math.max(0, Math.ceil(present.startsIn)) : present.seconds;
  }

  function tick() {
    const present = live ? presentOf(live, at, Date.now()) : { seconds: 0, startsIn: null, isStale: false };
    for (const node of [timer, islandTimer]) setText(node, clock(shownSeconds(present)));
    for (const node of [card, island]) node.classList.toggle("stale", live !== null && (present.isStale || live.hubLost));
    setText(note, live ? noteOf(present) : "");
    note.classList.toggle("alarm", live !== null && (present.isStale || live.hubLost));
  }

  return {
    node: element("div", { class: "stage" }, island, card), tick,
    /// `empty` says what is so while there is no push; `canPress` whether anybody would take a press.
    show(state, time, empty, canPress) {
      [live, at] = [state, time];
      const shown = live ? (hasWord("phase_" + live.phase) ? live.phase : "unknown") : "idle";
      for (const sign of signs) sign.show(shown);
      for (const node of [card, island]) node.dataset.phase = shown;
      const by = live && live.changedBy ? ` · ${word("changedBy", { source: sourceName(live.changedBy) })}` : "";
      const isCountdown = live !== null && live.phase === "idle" && isKnown(live.startsInSeconds);
      timer.setAttribute("aria-label", word(isCountdown ? "roomStage_countdown" : "activeTime"));
      setText(phase, isCountdown ? word("roomStage_countdown") : live ? phaseName(live.phase) + by : empty);
      setText(islandPhase, phase.textContent);
      const texts = live
        ? [distance(live.distanceMeters), pace(live.paceSecondsPerKilometer ?? live.averagePaceSecondsPerKilometer), heartRate(live.heartRateBpm)]
        : ["–", "–", "–"];
      for (const list of metrics) list.show(texts);
      const commands = !canPress || isCountdown ? noPlaces : live ? placesOf[shown] || noPlaces : placesOf.idle;
      const stages = Object.fromEntries((live ? live.pending : []).map((command) => [command, "pending"]));
      buttons.show([commands[0], commands[2]], stages);
      islandButtons.show(commands, stages);
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
function lineOf(view, stages) {
  const parts = [phaseName(view.state.phase)];
  if (view.state.changedBy) parts.push(word("changedBy", { source: sourceName(view.state.changedBy.source) }));
  parts.push(...Object.entries(stages).map(([command, stage]) => word("verdict_" + stage, { command: commandName(command) })));
  if (view.state.metrics.autoPaused && view.state.phase === "running") parts.push(word("autoPaused"));
  if (view.state.recovering) parts.push(word("recovering"));
  if (view.link.refusal) parts.push(word("refused", { reason: view.link.refusal }));
  else if (view.hubLost) parts.push(word("hubLost"));
  else if (view.hubOffDuty) parts.push(word("hubAway"));
  else if (!view.link.reachable) parts.push(word("hubUnreachable"));
  return parts.join(" · ");
}

/// The numbers of a view at a moment, `passed` seconds of the run after its snapshot.
function presentNumbers({ phase, metrics, recovering, clockStopped }, passed) {
  const isOn = phase === "running" || phase === "paused";
  const isTicking = phase === "running" && !metrics.autoPaused && !recovering && !clockStopped;
  const ages = metrics.ages || {};
  // What describes the present is not shown when it is too old for that.
  const current = (value, age) => (isOn && isKnown(age) && age + passed <= currentFor ? value : null);
  return [
    clock(metrics.activeSeconds + (isTicking ? passed : 0)), distance(metrics.distanceMeters),
    pace(phase === "running" ? current(metrics.currentPaceSecondsPerKilometer, ages.distanceSeconds) : null), heartRate(current(metrics.heartRateBpm, ages.heartRateSeconds)),
    clock(metrics.elapsedSeconds + (isOn ? passed : 0)), pace(metrics.averagePaceSecondsPerKilometer), heartRate(metrics.averageHeartRateBpm),
    heartRate(metrics.maxHeartRateBpm), cadence(metrics.averageCadenceStepsPerMinute), height(metrics.elevationGainMeters), energy(metrics.energyJoules),
    isKnown(metrics.lapCount) ? String(metrics.lapCount) : "–",
  ];
}

/// The goal of a run and what remains of it at a moment, `passed` seconds of the run after its snapshot; empty without one.
function presentGoal({ phase, metrics, goalSeconds }, passed) {
  if (!isKnown(goalSeconds)) return "";
  const isOn = phase === "running" || phase === "paused";
  const left = Math.max(0, goalSeconds - metrics.elapsedSeconds - (isOn ? passed : 0));
  // Rounded up: with the elapsed time, which is cut to the second, it makes the goal.
  return left > 0 ? word("goalLeft", { goal: clock(goalSeconds), left: clock(Math.ceil(left)) }) : word("goalReached", { goal: clock(goalSeconds) });
}

const numberNames = [
  "activeTime", "distance", "currentPace", "currentHeartRate", "elapsed", "averagePace", "averageHeartRate", "highestHeartRate", "cadence", "climbed",
  "energy", "laps",
];

/// The view of the present run; returns what ends it.
export function showLive(main, tell, banner, tiles) {
  const lockScreen = makeLockScreen(tell);
  const line = element("p", { class: "line-of-state", role: "status" });
  const replay = element("p", { class: "replay" });
  const goal = element("p", { class: "goal", hidden: true });
  const buttons = makeButtons("page", tell);
  const controls = element("div", { class: "controls", hidden: true }, element("h2", {}, word("controls")), buttons.node);
  const numbers = makeValues("numbers four", numberNames, 4);
  // Stands instead of everything while nothing is known, or for a page that is not let in.
  const outside = element("section", { class: "panel nothing", role: "status" }, element("p", {}, word("loading")));
  const run = makeRun(tiles);
  const room = makeRoom(tell);
  const [splits, devices, commands] = [element("div"), element("div"), element("div")];
  const redrawDevices = makeRedrawer(devices, drawDevices);
  const redrawCommands = makeRedrawer(commands, drawCommands);
  splits.append(drawSplits(null, false));
  run.update([], [], 1, [], {});
  // Texts that come, go and wrap stand below the buttons, which they would move.
  const inside = element(
    "div", { hidden: true },
    element("div", { class: "top" }, lockScreen.node, element("section", { class: "panel now" }, element("h2", {}, word("now")), numbers.node, controls, goal, line, replay)),
    room.node,
    run.node,
    element("div", { class: "columns" }, panel(word("splits"), splits), panel(word("commands"), commands), panel(word("devices"), devices)));
  main.replaceChildren(element("h1", { class: "hidden" }, word("run")), outside, inside);
  let view = null;
  // Whether views come.
  let isFollowing = false;
  let cameAt = 0;
  let shownRoute = null;
  let shownReport = null;
  // The version of the record that is drawn, and of the one that was asked for.
  let drawnRecord = null;
  let askedRecord = null;
  let askedAt = 0;
  let isBusy = false;
  let isEnded = false;

  function tick() {
    lockScreen.tick();
    room.tick();
    if (!view) return;
    const passed = (view.state.ageSeconds || 0) + Math.max(0, Date.now() - cameAt) / 1000 * view.speed;
    numbers.show(presentNumbers(view.state, passed));
    setText(goal, presentGoal(view.state, passed));
    goal.hidden = goal.textContent === "";
  }

  function drawReport(report) {
    const drawn = [element("div", {}, drawSplits(report, false))];
    if (report && report.laps.length) drawn.push(element("h3", {}, word("laps")), drawSplits(report, true));
    splits.replaceChildren(...drawn);
  }

  async function refresh() {
    if (isBusy || !view || isEnded || Date.now() - askedAt < routeEvery) return;
    const { runId, phase, metrics } = view.state;
    const [routeVersion, reportVersion] = [`${runId} ${view.routeVersion}`, `${runId} ${view.reportVersion}`];
    // A run that is over is drawn from its record as soon as that is kept, so that it is the same here and among the records.
    const recordVersion = phase === "completed" ? `${runId} ${view.recordVersion}` : null;
    if (recordVersion !== null && recordVersion === drawnRecord) return;
    if (routeVersion === shownRoute && reportVersion === shownReport && recordVersion === askedRecord) return;
    isBusy = true;
    askedAt = Date.now();
    try {
      let isOwed = false;
      const record = recordVersion === null ? null : await load(`/api/records/${runId}`).catch((error) => {
        // A store that does not answer is asked again; a record that is not kept comes with another version.
        isOwed = error.status !== 404;
        return null;
      });
      if (record) {
        if (isEnded) return;
        [drawnRecord, askedRecord, shownRoute, shownReport] = [recordVersion, recordVersion, null, null];
        run.updateFrom(record);
        drawReport(record.report);
        return;
      }
      // Without positions only the report's version changes, and the charts go on all the same.
      const [route, series, report] = await Promise.all([load("/api/route"), load("/api/series"), load("/api/report")]);
      [shownRoute, shownReport] = [routeVersion, reportVersion];
      [drawnRecord, askedRecord] = [null, isOwed ? null : recordVersion];
      if (isEnded) return;
      const last = series.samples[series.samples.length - 1];
      const end = last ? last.offsetSeconds : 0;
      run.update(route.points, series.samples, Math.max(1, end, Math.min(metrics.elapsedSeconds, end + 60)), series.pauses, {
        ...metrics, isOn: phase === "running" || phase === "paused",
      });
      drawReport(report);
    } catch { /* the stream says when the connection is lost; the next view tries again */ } finally { isBusy = false; }
  }

  /// Puts a sentence in the place of everything; `null` shows everything again.
  function stand(sentence) {
    [outside.hidden, inside.hidden] = [sentence === null, sentence !== null];
    outside.replaceChildren(sentence === null ? "" : element("p", {}, sentence));
  }

  /// Draws what depends on the view and on whether a press would be taken.
  function draw() {
    const stages = stagesOf(view.commands);
    const canPress = isFollowing && !view.link.refusal;
    lockScreen.show(view.live || null, cameAt, word(view.link.reachable ? "noActivity" : "noPhone"), canPress && (view.live || view.link.reachable));
    controls.hidden = !canPress;
    buttons.show(canPress ? placesOf[view.predicted] || placesOf.unknown : noPlaces, stages);
    setText(line, lineOf(view, stages));
  }

  function show(next) {
    [view, cameAt, isFollowing] = [next, Date.now(), true];
    stand(view.link.refusal && !view.state.runId ? word("refused", { reason: view.link.refusal }) : null);
    line.className = `line-of-state ${!view.link.reachable || view.hubLost || view.hubOffDuty ? "warn" : view.state.phase}`;
    // The speed at which a finished run was played is not known, nor is that of a phone out of reach.
    replay.hidden = view.speed === 1 || !["running", "paused"].includes(view.state.phase) || !view.link.reachable;
    setText(replay, replay.hidden ? "" : word("replaySpeed", { speed: view.speed }));
    document.title = `${phaseName(view.state.phase)} · RunBus`;
    draw();
    for (const command of view.commands) {
      if (command.receipt === "pending" || command.receipt === "queued" || !waiting.delete(command.commandId)) continue;
      tell(verdictText(command));
    }
    room.show(view.room || null, view.cue || null, !view.link.reachable || view.stale || view.hubOffDuty);
    redrawDevices({ devices: view.devices, isReachable: view.link.reachable });
    redrawCommands(view.commands);
    tick();
    refresh();
  }

  const stop = follow(show, (state) => {
    const reason = { full: "tooManyViewers", refused: "refusedHere" }[state];
    if (reason || !view) stand(word(reason || "loading"));
    banner.hidden = state !== "opening";
    setText(banner, banner.hidden ? "" : word("reconnecting"));
    // A press is not delivered before the next view comes.
    if (state !== "open") isFollowing = false;
    if (view) draw();
  });
  // The clock shows whole seconds; five times a second is soon enough, and spares a phone's battery.
  const ticking = setInterval(tick, 200);
  const refreshing = setInterval(refresh, 1000);
  return () => {
    isEnded = true;
    stop();
    clearInterval(ticking);
    clearInterval(refreshing);
    banner.hidden = true;
  };
}
