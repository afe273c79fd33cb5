// Axes whose ends and lines are round: 1, 2 or 5 times a power of ten, and round minutes and seconds.

/// Steps of paces and times, seconds.
const timeSteps = [1, 2, 5, 10, 15, 20, 30, 60, 120, 300, 600, 900, 1200, 1800, 3600, 7200, 10_800, 21_600, 43_200, 86_400];
/// The shortest step of a pace: nobody runs by single seconds.
const paceStep = 5;
/// From this length on the lines of a time axis are whole minutes, seconds.
const minutesFrom = 180;

/// The smallest of 1, 2 and 5 times a power of ten that is not less than a number.
function decimalStep(least) {
  const power = 10 ** Math.floor(Math.log10(least) + 1e-9);
  return [1, 2, 5, 10].map((many) => many * power).find((step) => step >= least * (1 - 1e-9));
}

function timeStep(least, shortest) {
  return timeSteps.find((step) => step >= shortest && step >= least * (1 - 1e-9)) || decimalStep(least / 86_400) * 86_400;
}

/// The multiples of a step from one to another.
function multiples(step, from, to) {
  return Array.from({ length: to - from + 1 }, (_, index) => {
    // A step below one is no sum of binary fractions.
    const value = (from + index) * step;
    return Number(value.toPrecision(12));
  });
}

/// An axis of values: its round ends, which hold `low` and `high`, and its lines, `most` spaces between them. `scale` is how
/// many of the numbers that are shown make one of the value.
export function valueAxis(low, high, scale, isTime, most) {
  const [begin, end] = [low * scale, high * scale];
  let step = isTime ? timeStep((end - begin) / most, paceStep) : decimalStep((end - begin) / most);
  const ends = () => [Math.floor(begin / step + 1e-9), Math.ceil(end / step - 1e-9)];
  // Ends that are made round can need one more space.
  while (ends()[1] - ends()[0] > most) step = isTime ? timeStep(step * 1.01, paceStep) : decimalStep(step * 1.01);
  const lines = multiples(step, ...ends());
  return { low: lines[0] / scale, high: lines[lines.length - 1] / scale, lines: lines.map((line) => line / scale) };
}

/// The lines of an axis that begins at zero and ends where its values do.
export function placeLines(length, scale, isTime, most) {
  const end = length * scale;
  const step = isTime ? timeStep(end / most, end >= minutesFrom ? 60 : 1) : decimalStep(end / most);
  return multiples(step, 0, Math.floor(end / step + 1e-9)).map((line) => line / scale);
}
