// The route of a run as a drawing, with or without a map.
import { choices, distance, isKnown, pace, roundDistance, unitMeters, word } from "./format.js";
import { drawing, element } from "./element.js";
import { boundsOf, gapOf, indexAt, kinds, sampleAt, valueOf } from "./samples.js";

const paceKind = kinds[0];

/// A position on a map in Mercator's projection, in units of the width of the world.
function project(latitude, longitude) {
  const radians = Math.max(-85, Math.min(85, latitude)) * Math.PI / 180;
  return [(longitude + 180) / 360, (1 - Math.log(Math.tan(radians) + 1 / Math.cos(radians)) / Math.PI) / 2];
}

const mapWidth = 400;
const mapMargin = 26;

/// The colours of a route, slow to fast; `page.css` has as many.
const huesMost = 5;
/// Between two arrows on a route, and from an arrow to a mark, in units of the drawing.
const arrowEvery = 46;
const arrowRoom = 12;
/// Marks of start and end that are nearer are drawn beside each other.
const marksApart = 16;

/// The route as a line in the colours of its pace, north up, with arrows, marks for its start, its end and each kilometre or mile,
/// and one that follows the cursor.
export function makeRoute(tiles, onMove) {
  const node = element("div", { class: "map" });
  const mark = drawing("circle", { r: 8, class: "mark" });
  let [places, offsets] = [[], []];
  let svg = null;

  function move(event) {
    if (event.pointerType === "touch" && event.type === "pointermove") return;
    const box = svg.getBoundingClientRect();
    const view = svg.viewBox.baseVal;
    const scale = Math.min(box.width / view.width, box.height / view.height);
    const x = (event.clientX - box.left - (box.width - view.width * scale) / 2) / scale;
    const y = (event.clientY - box.top - (box.height - view.height * scale) / 2) / scale;
    let [best, near] = [0, Infinity];
    for (let index = 1; index < places.length; index += 1) {
      const away = Math.hypot(places[index][0] - x, places[index][1] - y);
      if (away < near) [best, near] = [index, away];
    }
    if (near < 40) onMove(offsets[best]);
  }

  return {
    node,
    /// `samples` have the paces; of a run that is `isOn` the end is where the runner is.
    update(points, samples, isOn) {
      if (points.length < 2) {
        [places, svg] = [[], null];
        node.replaceChildren(element("p", { class: "empty" }, word("noRoute")));
        return;
      }
      const world = points.map((point) => project(point[1], point[2]));
      offsets = points.map((point) => point[0]);
      const xs = world.map((point) => point[0]);
      const ys = world.map((point) => point[1]);
      const bounds = { left: Math.min(...xs), right: Math.max(...xs), top: Math.min(...ys), bottom: Math.max(...ys) };
      const [wide, tall] = [bounds.right - bounds.left, bounds.bottom - bounds.top];
      // Beside the charts the map is as tall as they are; alone it is as tall as the route, within reason. A run on the spot
      // is not blown up to fill it.
      const least = 60 / 40_075_017;
      const isAlone = window.matchMedia("(max-width: 900px)").matches;
      const aspect = isAlone ? Math.min(1.15, Math.max(0.5, Math.max(tall, least) / Math.max(wide, least))) : 1.42;
      const mapHeight = mapMargin * 2 + (mapWidth - mapMargin * 2) * aspect;
      const scale = Math.min((mapWidth - mapMargin * 2) / Math.max(wide, least), (mapHeight - mapMargin * 2) / Math.max(tall, least));
      const middle = [(bounds.left + bounds.right) / 2, (bounds.top + bounds.bottom) / 2];
      places = world.map(([x, y]) => [mapWidth / 2 + (x - middle[0]) * scale, mapHeight / 2 + (y - middle[1]) * scale]);
      const path = places.map((place, index) => `${index && !points[index][5] ? "L" : "M"}${spot(place)}`).join("");
      const hues = huesOf(samples);
      const metersPerUnit = 40_075_017 * Math.cos(points[0][1] * Math.PI / 180) / scale;
      const length = points[points.length - 1][3];
      svg = drawing(
        "svg", { viewBox: `0 0 ${mapWidth} ${mapHeight.toFixed(0)}`, class: "route", role: "img", "aria-label": routeSentence(length, hues) },
        tiles ? drawTiles(tiles, middle, scale, mapHeight) : null,
        drawing("path", { d: path, class: "edge" }), hues ? drawHues(points, places, samples, hues) : drawing("path", { d: path, class: "line" }),
        drawUnits(points, places, length), drawArrows(points, places, length), drawEnds(places, isOn), mark, drawScale(metersPerUnit, mapHeight));
      svg.addEventListener("pointermove", move);
      svg.addEventListener("pointerdown", move);
      node.replaceChildren(svg, drawLegend(hues, isOn), tiles ? element("p", { class: "source" }, word("tilesFrom", { host: hostOf(tiles) })) : "");
    },
    show(at) {
      mark.toggleAttribute("hidden", at === null);
      if (!places.length || at === null) return;
      const index = indexAt(offsets, at);
      const [from, to] = [places[index], places[index + 1]];
      const share = to ? Math.min(1, Math.max(0, (at - offsets[index]) / Math.max(1e-9, offsets[index + 1] - offsets[index]))) : 0;
      mark.setAttribute("cx", to ? from[0] + (to[0] - from[0]) * share : from[0]);
      mark.setAttribute("cy", to ? from[1] + (to[1] - from[1]) * share : from[1]);
    },
  };
}

function hostOf(template) {
  try { return new URL(template).host; } catch { return template; }
}

// MARK: Pace as colour

function spot([x, y]) { return `${x.toFixed(1)} ${y.toFixed(1)}`; }

/// The slowest and the fastest pace that have a colour of their own, in whole steps of five seconds; `null` where paces are not known.
function huesOf(samples) {
  const bounds = boundsOf(samples.map((sample) => valueOf(paceKind, sample)), paceKind.smallest, true);
  if (!bounds) return null;
  const step = 5 / paceKind.scale();
  return { fast: Math.floor(bounds.low / step) * step, slow: Math.ceil(bounds.high / step) * step };
}

/// The number of the colour of a pace, 0 for the slowest; `null` for none.
function hueOf(value, { fast, slow }) {
  if (value === null) return null;
  return Math.max(0, Math.min(huesMost - 1, Math.floor((slow - value) / (slow - fast) * huesMost)));
}

/// The places along a route with the run time of each and whether the line begins anew: those of its points, and one for each
/// sample between two of them, because a straight line of many paces has two points only.
function stepsAlong(points, places, samples) {
  const steps = [];
  let next = 0;
  points.forEach((point, index) => {
    const [time, meters] = [point[0], point[3]];
    const before = points[index - 1];
    for (; next < samples.length && samples[next].offsetSeconds < time; next += 1) {
      const sample = samples[next];
      if (!before || point[5] || sample.offsetSeconds <= before[0]) continue;
      const way = meters - before[3];
      const share = way > 0 && isKnown(sample.distanceMeters) ? (sample.distanceMeters - before[3]) / way : (sample.offsetSeconds - before[0]) / (time - before[0]);
      const [from, to] = [places[index - 1], places[index]];
      const along = Math.max(0, Math.min(1, share));
      steps.push({ time: sample.offsetSeconds, place: [from[0] + (to[0] - from[0]) * along, from[1] + (to[1] - from[1]) * along], isNew: false });
    }
    steps.push({ time, place: places[index], isNew: index === 0 || point[5] === 1 });
  });
  return steps;
}

/// The route in the colours of its pace: neighbours of one colour are one path.
function drawHues(points, places, samples, hues) {
  // Of a long run not each sample has a place of its own.
  const every = Math.max(1, Math.ceil(samples.length / 1500));
  const some = samples.filter((_, index) => index % every === 0);
  const steps = stepsAlong(points, places, some);
  const times = some.map((sample) => sample.offsetSeconds);
  const line = { places: times, values: some.map((sample) => valueOf(paceKind, sample)), last: some.length - 1, gap: gapOf(times), reach: gapOf(times) };
  const group = drawing("g", { class: "hues" });
  let [path, hue] = ["", undefined];
  const close = () => { if (path) group.append(drawing("path", { d: path, class: hue === null ? "line unknown" : `line hue${hue}` })); };
  steps.forEach((step, index) => {
    if (step.isNew) return;
    const before = steps[index - 1];
    const found = sampleAt(line, (before.time + step.time) / 2);
    const own = found < 0 ? null : hueOf(line.values[found], hues);
    if (before.isNew || own !== hue) {
      close();
      [path, hue] = [`M${spot(before.place)}`, own];
    }
    path += `L${spot(step.place)}`;
  });
  close();
  return group;
}

function routeSentence(length, hues) {
  const known = word("routeWords", { distance: distance(length) });
  return hues ? `${known}. ${word("routeHues", { slow: pace(hues.slow), fast: pace(hues.fast) })}` : known;
}

/// What the marks and the colours of a route mean.
function drawLegend(hues, isOn) {
  const sign = (shape) => drawing("svg", { viewBox: "-9 -9 18 18", class: "sample", "aria-hidden": "true" }, shape);
  return element(
    "p", { class: "legend" },
    element("span", { class: "entry" }, sign(startShape()), word("routeStart")), element("span", { class: "entry" }, sign(endShape(isOn)), word(isOn ? "routeNow" : "routeEnd")),
    hues ? element(
      "span", { class: "entry paces" }, word("slow", { pace: pace(hues.slow) }),
      element("span", { class: "swatches", "aria-hidden": "true" }, Array.from({ length: huesMost }, (_, index) => element("span", { class: `hue${index}` }))),
      word("fast", { pace: pace(hues.fast) })) : null);
}

// MARK: Start, end and direction

function startShape() {
  return drawing("g", { class: "begin" }, drawing("circle", { r: 7.5 }), drawing("path", { d: "M-2.4 -3.8L4 0L-2.4 3.8Z" }));
}

function endShape(isOn) {
  return isOn
    ? drawing("g", { class: "present" }, drawing("circle", { r: 6.5 })) : drawing("g", { class: "end" }, drawing("rect", { x: -6.5, y: -6.5, width: 13, height: 13, rx: 2 }));
}

/// The marks of start and end; where a loop closes they stand beside each other.
function drawEnds(places, isOn) {
  const [first, last] = [places[0], places[places.length - 1]];
  const [begin, end] = [startShape(), endShape(isOn)];
  let [from, to] = [first, last];
  if (Math.hypot(last[0] - first[0], last[1] - first[1]) < marksApart) {
    const middle = [(first[0] + last[0]) / 2, (first[1] + last[1]) / 2];
    [from, to] = [[middle[0] - marksApart / 2, middle[1]], [middle[0] + marksApart / 2, middle[1]]];
  }
  begin.setAttribute("transform", `translate(${spot(from)})`);
  end.setAttribute("transform", `translate(${spot(to)})`);
  return drawing("g", { "aria-hidden": "true" }, end, begin);
}

/// Where a route is at each of several ways along its drawing, and where it goes there; nothing where the line begins anew.
function arrowsOf(points, places) {
  const ways = [0];
  for (let index = 1; index < places.length; index += 1) {
    const step = points[index][5] ? 0 : Math.hypot(places[index][0] - places[index - 1][0], places[index][1] - places[index - 1][1]);
    ways.push(ways[index - 1] + step);
  }
  const all = ways[ways.length - 1];
  const at = (way) => {
    const index = Math.min(indexAt(ways, way), places.length - 2);
    const share = ways[index + 1] > ways[index] ? (way - ways[index]) / (ways[index + 1] - ways[index]) : 0;
    return { index, place: [0, 1].map((axis) => places[index][axis] + (places[index + 1][axis] - places[index][axis]) * share) };
  };
  const count = Math.max(1, Math.min(60, Math.round(all / arrowEvery)));
  return Array.from({ length: count }, (_, index) => (index + 0.5) * all / count).flatMap((way) => {
    // Over a short stretch: a single step of a receiver may go anywhere.
    const [before, here, after] = [at(Math.max(0, way - 4)), at(way), at(Math.min(all, way + 4))];
    const isWhole = points.slice(before.index + 1, after.index + 2).every((point) => !point[5]);
    const [dx, dy] = [after.place[0] - before.place[0], after.place[1] - before.place[1]];
    return isWhole && Math.hypot(dx, dy) > 1 ? [{ place: here.place, degrees: Math.atan2(dy, dx) * 180 / Math.PI }] : [];
  });
}

/// Arrows in the direction of the run, where they cover no mark.
function drawArrows(points, places, length) {
  const taken = [places[0], places[places.length - 1], ...unitsOf(points, length).map(({ index }) => places[index])];
  const isFree = ({ place }) => taken.every((mark) => Math.hypot(mark[0] - place[0], mark[1] - place[1]) > arrowRoom);
  return drawing("g", { class: "arrows", "aria-hidden": "true" }, arrowsOf(points, places).filter(isFree).map(({ place, degrees }) => drawing(
    "path", { d: "M-3.4 -4.2L4.4 0L-3.4 4.2L-1.6 0Z", transform: `translate(${spot(place)}) rotate(${degrees.toFixed(0)})` })));
}

// MARK: Marks and scale

/// The points at which a kilometre or mile ends, and their numbers; fewer of them on a long route.
function unitsOf(points, length) {
  const step = unitMeters() * [1, 2, 5, 10, 20, 50, 100].find((many) => length / unitMeters() / many <= 14 || many === 100);
  let next = step;
  return points.flatMap((point, index) => {
    if (!isKnown(point[3]) || point[3] < next) return [];
    const meters = Math.floor(point[3] / step) * step;
    next = meters + step;
    return next > 1e7 ? [] : [{ index, number: Math.round(meters / unitMeters()) }];
  });
}

function drawUnits(points, places, length) {
  return drawing("g", { class: "units", "aria-hidden": "true" }, unitsOf(points, length).map(({ index, number }) => {
    const [x, y] = places[index];
    return [drawing("circle", { r: 7.5, cx: x, cy: y }), drawing("text", { x, y: y + 3.2 }, String(number))];
  }));
}

/// A bar of a round length at the lower left.
function drawScale(metersPerUnit, mapHeight) {
  const room = metersPerUnit * mapWidth / 3;
  const sizes = (choices.units === "mi" ? [0.05, 0.1, 0.25, 0.5, 1, 2, 5, 10, 20, 50] : [0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50]).map((many) => many * unitMeters());
  const meters = sizes.filter((size) => size <= room).pop() || sizes[0];
  const long = Math.min(mapWidth / 2, meters / metersPerUnit);
  const y = mapHeight - 8;
  return drawing(
    "g", { class: "scale", "aria-hidden": "true" }, drawing("path", { d: `M8 ${y - 4}V${y}H${(8 + long).toFixed(1)}V${y - 4}` }),
    drawing("text", { x: 13, y: y - 5 }, roundDistance(meters)));
}

/// Map tiles below the route, as the owner asked for with --tiles.
function drawTiles(template, middle, scale, mapHeight) {
  // A tile is about as wide on the page as it was drawn.
  const zoom = Math.max(1, Math.min(18, Math.round(Math.log2(scale / 150))));
  const count = 2 ** zoom;
  const size = scale / count;
  const group = drawing("g", { class: "tiles" });
  const [x0, y0] = [middle[0] * count, middle[1] * count];
  const [across, down] = [mapWidth / 2 / size, mapHeight / 2 / size];
  for (let x = Math.floor(x0 - across); x <= x0 + across; x += 1) {
    for (let y = Math.max(0, Math.floor(y0 - down)); y <= Math.min(count - 1, y0 + down); y += 1) {
      const address = template.replace("{z}", zoom).replace("{x}", ((x % count) + count) % count).replace("{y}", y);
      group.append(drawing("image", { href: address, x: mapWidth / 2 + (x - x0) * size, y: mapHeight / 2 + (y - y0) * size, width: size, height: size }));
    }
  }
  return group;
}
