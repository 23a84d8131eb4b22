// SPDX-License-Identifier: Apache-2.0
// Where things are in a graph; pure.

/** The largest value of an axis that shows this value, and the step of its lines: three to five of them, of round numbers. */
export function axis(largest) {
  const wanted = largest > 0 ? Math.max(largest, 1e-3) : 1;
  const power = 10 ** Math.floor(Math.log10(wanted / 3));
  const step = power * [1, 2, 5, 10].find(factor => wanted / (power * factor) <= 4);
  return { step, end: step * Math.max(1, Math.ceil(wanted / step - 1e-9)) };
}

/**
 * Lines of the points, as SVG paths; a point without a value, or a gap of time that is larger than `gap`, interrupts them.
 * Points: {time, value}; x and y are functions.
 */
export function linePath(points, x, y, gap) {
  let path = "", before;
  for (const point of points) {
    if (point.value === undefined) {
      before = undefined;
      continue;
    }
    const joined = before !== undefined && point.time - before <= gap;
    path += `${joined ? "L" : "M"}${x(point.time).toFixed(1)} ${y(point.value).toFixed(1)}`;
    before = point.time;
  }
  return path;
}

/** The same, as areas above the axis. */
export function areaPath(points, x, y, gap) {
  let path = "", run = [];
  function close() {
    if (run.length > 0) {
      const base = y(0).toFixed(1), first = x(run[0].time).toFixed(1), last = x(run[run.length - 1].time).toFixed(1);
      path += `M${first} ${base}` + run.map(point => `L${x(point.time).toFixed(1)} ${y(point.value).toFixed(1)}`).join("")
        + `L${last} ${base}Z`;
    }
    run = [];
  }
  for (const point of points) {
    if (point.value === undefined || (run.length > 0 && point.time - run[run.length - 1].time > gap)) close();
    if (point.value !== undefined) run.push(point);
  }
  close();
  return path;
}

/** A small line of the last values, which fills its box from the left to the right; empty without two values. */
export function sparkPath(values, width, height) {
  const known = values.filter(value => value !== undefined);
  if (known.length < 2) return "";
  const largest = Math.max(...known, 1), step = width / (values.length - 1);
  return linePath(values.map((value, index) => ({ time: index, value })), index => index * step,
    value => height - 1 - (height - 2) * value / largest, 1);
}
