// SPDX-License-Identifier: Apache-2.0
// The graph of power over time: the whole as a line, its idle part as an area.

import { date, decimal, power } from "./format.js";
import { say, translate as _ } from "./i18n.js";
import { areaPath, axis, linePath } from "./scale.js";
import { shape } from "./dom.js";

const HEIGHT = 200, TOP = 10, BOTTOM = 24, LEFT = 56, RIGHT = 8;
const DAY = 86400e6;
export const LIVE = 600e6;
const SHORTEST = 60e6, LIVE_GAP = 10e6; // microseconds

/** Lowest, mean and highest power of the points, weighted by nothing: points are equally far apart. */
export function summary(points) {
  const values = points.map(point => point.power).filter(value => value !== undefined);
  if (values.length === 0) return say("Power is not known yet.");
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  return say("Lowest $0, mean $1, highest $2.", power(Math.min(...values)), power(mean), power(Math.max(...values)));
}

function timeLabels(from, to, x, count) {
  const options = to - from > 2 * DAY ? { day: "numeric", month: "short" } : to - from > 900e6
    ? { hour: "2-digit", minute: "2-digit" } : { hour: "2-digit", minute: "2-digit", second: "2-digit" };
  return Array.from({ length: count }, (_item, index) => {
    const time = from + (to - from) * index / (count - 1);
    const anchor = index === 0 ? "start" : index === count - 1 ? "end" : "middle";
    return shape("text", { x: x(time), y: HEIGHT - 6, "text-anchor": anchor }, date(time, options));
  });
}

function levels(scale, y, width) {
  const digits = Math.max(0, Math.min(3, Math.ceil(-Math.log10(scale.step))));
  return Array.from({ length: Math.round(scale.end / scale.step) + 1 }, (_item, index) => {
    const watts = index * scale.step, height = y(watts * 1e6);
    return shape("g", {}, shape("line", { x1: LEFT, x2: width - RIGHT, y1: height, y2: height, class: "level" }),
      shape("text", { x: LEFT - 6, y: height + 4, "text-anchor": "end" }, `${decimal(watts, digits)} W`));
  });
}

/** Draws points {time, power, idle} of this period. A gap of time without points is a gap in the graph. */
export function drawGraph(svg, { points, from, to, gap, label }) {
  const width = Math.max(240, svg.clientWidth);
  // The first and the last span may be partly outside.
  const isInside = (point, index) => (points[index + 1] ?? point).time >= from && (points[index - 1] ?? point).time <= to;
  const shown = points.filter(isInside).map(point => ({ ...point, time: Math.min(to, Math.max(from, point.time)) }));
  const scale = axis(Math.max(0, ...shown.map(point => point.power ?? 0)) / 1e6);
  const x = time => LEFT + (width - LEFT - RIGHT) * (time - from) / (to - from);
  const y = microwatts => TOP + (HEIGHT - TOP - BOTTOM) * (1 - microwatts / 1e6 / scale.end);
  const of = field => shown.map(point => ({ time: point.time, value: point[field] }));
  svg.setAttribute("viewBox", `0 0 ${width} ${HEIGHT}`);
  svg.setAttribute("aria-label", `${label}. ${summary(shown)}`);
  svg.replaceChildren(...levels(scale, y, width), ...timeLabels(from, to, x, width < 500 ? 3 : 5),
    shape("path", { class: "whole-area", d: areaPath(of("power"), x, y, gap) }),
    shape("path", { class: "idle-area", d: areaPath(of("idle"), x, y, gap) }),
    shape("path", { class: "whole-line", d: linePath(of("power"), x, y, gap) }));
}

/** Draws the last ten minutes up to now, as far as the page has followed them: until then, that fills the graph. */
export function drawLive(svg, points, now) {
  const from = Math.max(now - LIVE, Math.min(points[0]?.time ?? now, now - SHORTEST));
  drawGraph(svg, { points, from, to: now, gap: LIVE_GAP, label: _("Power in the last 10 minutes") });
}
