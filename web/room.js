// The room of the runner: who is in, what it waits for, the countdown, who is ahead, the result.
import { element, setText } from "./element.js";
import { clock, distance, exactDistance, hasWord, height, isKnown, pace, span, word } from "./format.js";

// From when on a standing says how old it is, seconds; as the phone's own limit.
const standingFor = 9;
// The columns of numbers.
const roomNumbers = ["distance", "behind", "pace"];

/// The names of members by their ids; two alike have the first digits of their keys.
function memberNames(members) {
  return Object.fromEntries(members.map(({ id, nickname }) => {
    const isDouble = members.filter((other) => other.nickname === nickname).length > 1;
    return [id, isDouble ? `${nickname} (${id.slice(0, 4)})` : nickname];
  }));
}

/// `Starts in 4 s`, rounded up so that it ends with 1. A lock screen counts in the same way.
export function countdownText(seconds) {
  return seconds > 0 ? word("startsIn", { time: span(Math.ceil(seconds)) }) : word("startsNow");
}

/// `2 of 4 · 120 m behind`.
export function placeText({ place, count, behindMeters }) {
  const parts = [word("placeOf", { place, count })];
  if (isKnown(behindMeters)) parts.push(word("metersBehind", { distance: height(behindMeters) }));
  return parts.join(" · ");
}

/// Something that the runner should notice, in a sentence; nothing for what this page does not know.
export function cueText({ cue, nickname }) {
  return hasWord("cue_" + cue) ? word("cue_" + cue, { nickname: nickname || word("anotherRunner") }) : "";
}

function stageText(room) {
  if (room.settled && hasWord("settled_" + room.settled)) return word("settled_" + room.settled);
  return word("roomStage_" + (hasWord("roomStage_" + room.stage) ? room.stage : "unknown"));
}

/// What the room waits for, and how far the runner is from its start.
function gateText(room, own) {
  const names = memberNames(room.members);
  const missing = (isThere) => room.members.filter((member) => !isThere(member)).map((member) => (member.you ? word("you") : names[member.id])).join(", ");
  const parts = [];
  const isOwner = own !== undefined && own.owner;
  if (room.gate === "open") parts.push(word(isOwner ? "gate_openOwn" : "gate_open"));
  if (room.gate === "tooFew") parts.push(word("gate_tooFew"));
  if (room.gate === "notReady") parts.push(word("gate_notReady", { names: missing((member) => member.ready) }));
  if (room.gate === "notHere") parts.push(word("gate_notHere", { names: missing((member) => member.here) }));
  if (room.gate && isKnown(room.toStartMeters) && own !== undefined && !own.here) parts.push(word("fromStart", { distance: height(room.toStartMeters) }));
  return parts.join(" · ");
}

/// What makes the room uncertain.
function doubtText(room, own, isBlind) {
  const parts = [];
  if (room.lost) parts.push(word("roomLost"));
  if (room.provisional) parts.push(word("roomProvisional"));
  if (room.members.length && own === undefined) parts.push(word("roomNoPlace"));
  if (isBlind) parts.push(word("roomAsHeard"));
  return parts.join(" · ");
}

/// The place of a member in the table: by the result, else by the standings, else as it came.
function rankedMembers(members) {
  const key = ({ finish, standing }) => [finish?.place ?? Infinity, standing?.place ?? Infinity];
  return members.map((member, index) => [member, [...key(member), index]])
    .sort(([, a], [, b]) => (a[0] === b[0] ? (a[1] === b[1] ? a[2] - b[2] : a[1] - b[1]) : a[0] - b[0]))
    .map(([member]) => member);
}

/// How many are in, and how many may be while others can enter.
function placesText({ stage, members, places }) {
  return stage === "recruiting" ? word("placesTaken", { count: members.length, places }) : word("runnersIn", { count: members.length });
}

/// The table of a stage: its caption, the names of its columns behind that of the runner, and what makes the cells of a member.
/// `passed` is how long ago the view came, real seconds.
function tableOf(room, passed) {
  const runners = placesText(room);
  if (room.members.some(({ finish }) => finish)) {
    return {
      caption: word("result"), columns: ["place", "distance", "outcome"],
      cells: ({ finish }) => (finish ? [
        String(finish.place), `${exactDistance(finish.distanceMeters)}${isKnown(finish.distanceMeters) && !finish.confirmed ? ` (${word("unconfirmed")})` : ""}`,
        finish.outcome && hasWord("outcome_" + finish.outcome) ? word("outcome_" + finish.outcome) : "–",
      ] : ["–", "–", "–"]),
    };
  }
  if (["running", "settling", "over"].includes(room.stage)) {
    return {
      caption: word("standings"), columns: ["place", "distance", "behind", "pace", "heard"],
      cells: ({ standing }) => {
        if (!standing) return ["–", "–", "–", "–", word("notHeard")];
        const age = isKnown(standing.ageSeconds) ? standing.ageSeconds + passed : null;
        const isStale = standing.stale || (age !== null && age >= standingFor);
        const state = standing.phase && standing.phase !== "running" && hasWord("phase_" + standing.phase) ? word("phase_" + standing.phase) : "";
        return [
          isKnown(standing.place) ? String(standing.place) : "–", distance(standing.distanceMeters),
          isKnown(standing.behindMeters) ? height(standing.behindMeters) : standing.place === 1 ? word("ahead") : "–",
          pace(standing.paceSecondsPerKilometer), isStale ? (age === null ? word("notHeard") : word("heardAgo", { age: span(age) })) : state,
        ];
      },
    };
  }
  if (room.stage === "gathering") return { caption: runners, columns: ["atStart"], cells: ({ here }) => [word(here ? "isHere" : "isNotHere")] };
  if (room.stage === "recruiting") {
    return { caption: runners, columns: ["ready", "level"], cells: ({ ready, level }) => [word(ready ? "isReady" : "isNotReady"), String(level)] };
  }
  return { caption: runners, columns: ["level"], cells: ({ level }) => [String(level)] };
}

/// The panel of the room. `tell` says what is to be heard: that a countdown has begun or was held, and cues, each once.
export function makeRoom(tell) {
  const stage = element("p", { class: "room-stage" });
  const facts = element("p", { class: "room-facts" });
  const gate = element("p", { class: "room-gate" });
  const doubt = element("p", { class: "room-doubt" });
  const caption = element("caption");
  const [head, body] = [element("tr"), element("tbody")];
  const table = element("table", { class: "room-table" }, caption, element("thead", {}, head), body);
  const node = element("section", { class: "panel room", "aria-label": word("room"), hidden: true }, element("h2", {}, word("room")), stage, facts, gate, doubt, table);
  let room = null;
  let cameAt = 0;
  let isBlind = false;
  let shape = "";
  let toldCue = null;
  let before = null;

  /// Draws the rows; cells that exist stay, so that a selection stays and nothing is read anew.
  function drawRows(passed) {
    const { caption: title, columns, cells } = tableOf(room, passed);
    const members = rankedMembers(room.members);
    const names = memberNames(room.members);
    const labels = members.map((member) => [names[member.id], ...[member.you ? word("you") : "", member.owner ? word("owner") : ""].filter(Boolean)].join(" · "));
    setText(caption, title);
    const newShape = JSON.stringify([columns, members.map(({ id, you }) => [id, you])]);
    if (newShape !== shape) {
      shape = newShape;
      const isRanked = columns[0] === "place";
      const order = isRanked ? ["place", "runner", ...columns.slice(1)] : ["runner", ...columns];
      const classOf = (name) => (roomNumbers.includes(name) ? `number column-${name}` : `column-${name}`);
      head.replaceChildren(...order.map((name) => element("th", { scope: "col", class: classOf(name) }, word("column_" + name))));
      body.replaceChildren(...members.map((member) => {
        const rest = columns.map((name) => element("td", { class: classOf(name) }));
        const name = element("th", { scope: "row" });
        return element("tr", { class: member.you ? "own" : null }, isRanked ? [rest[0], name, ...rest.slice(1)] : [name, ...rest]);
      }));
    }
    members.forEach((member, index) => {
      const row = body.children[index];
      setText(row.querySelector("th"), labels[index]);
      const texts = cells(member);
      row.querySelectorAll("td").forEach((cell, column) => setText(cell, texts[column]));
    });
  }

  function tick() {
    if (!room) return;
    const passed = Math.max(0, Date.now() - cameAt) / 1000;
    const isCounting = room.stage === "countdown" && isKnown(room.startsInSeconds);
    setText(stage, isCounting ? countdownText(room.startsInSeconds - passed) : stageText(room));
    drawRows(passed);
  }

  /// Says what has changed since the view before.
  function announce(cue) {
    const now = room ? `${room.room} ${room.stage}` : null;
    if (room && now !== before) {
      if (room.stage === "countdown" && isKnown(room.startsInSeconds)) tell(countdownText(room.startsInSeconds));
      if (room.stage === "recruiting" && before === `${room.room} countdown`) tell(word("countdownHeld"));
    }
    before = now;
    if (cue && cue.number !== toldCue) {
      toldCue = cue.number;
      const text = cueText(cue);
      if (text) tell(text);
    }
  }

  return {
    node, tick,
    /// `next` is the room of a view that has just come, `cue` what is to be noticed.
    show(next, cue, isOutOfReach) {
      [room, cameAt, isBlind] = [next, Date.now(), isOutOfReach];
      node.hidden = room === null;
      announce(cue);
      if (!room) return;
      const own = room.members.find((member) => member.you);
      node.dataset.stage = room.stage;
      node.classList.toggle("blind", isBlind);
      setText(facts, [
        isKnown(room.goalSeconds) ? word("roomGoal", { goal: clock(room.goalSeconds) }) : "", placesText(room), room.matched ? word("matched") : "",
        room.start ? word("roomStart", { place: room.start }) : "",
      ].filter(Boolean).join(" · "));
      for (const [line, text] of [[gate, gateText(room, own)], [doubt, doubtText(room, own, isBlind)]]) {
        setText(line, text);
        line.hidden = text === "";
      }
      gate.classList.toggle("open", room.gate === "open");
      tick();
    },
  };
}
