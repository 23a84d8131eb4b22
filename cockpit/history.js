// SPDX-License-Identifier: Apache-2.0
// What keplerd-history has recorded.

import { say } from "./i18n.js";
import { HISTORY, replies } from "./varlink.js";

const NOW = () => Date.now() * 1000;

/** Periods of the graph that begin earlier than the page: their length, and the step of their spans. */
export const PERIODS = {
  day: { length: 86400e6, step: "5min" },
  week: { length: 7 * 86400e6, step: "hour" },
  month: { length: 30 * 86400e6, step: "hour" },
};

/** The spans of a period until now, of the host or of one workload. */
export async function spans(kind, id, { length, step }) {
  const toUsec = NOW();
  const wanted = { kind, fromUsec: toUsec - length, toUsec, step };
  if (id !== undefined) wanted.id = id;
  return replies(HISTORY, "org.keplerd.History.Query", wanted);
}

/** Two points for each span, so that it is drawn as a step; nothing where nothing is recorded. */
export function pointsOf(all, energyOf, idleOf) {
  return all.flatMap(span => {
    const mean = energy => energy === undefined || !(span.recordedUsec > 0) ? undefined : energy / span.recordedUsec * 1e6;
    const power = mean(energyOf(span)), idle = mean(idleOf(span));
    return [{ time: span.fromUsec, power, idle }, { time: span.toUsec, power, idle }];
  });
}

/** The first moments of this month of local time and of the one after it, or of one that is some months ago. */
export function monthBounds(ago = 0, today = new Date()) {
  const first = new Date(today.getFullYear(), today.getMonth() - ago, 1);
  return { first, next: new Date(today.getFullYear(), today.getMonth() - ago + 1, 1) };
}

/** The month as keplerctl names it. */
export const monthName = first => `${first.getFullYear()}-${String(first.getMonth() + 1).padStart(2, "0")}`;

// What Cockpit's bridges report if nobody listens at a socket, or if it closes.
const NOT_THERE = ["not-found", "no-host", "terminated", "disconnected"];

/** Why there is no history, and what to do. */
export function reason(problem) {
  if (NOT_THERE.includes(problem)) {
    return say("keplerd-history, which records energy over time, is not running.");
  }
  if (problem === "org.varlink.service.PermissionDenied") {
    return say("The energy of the host over time is shown to administrators and members of the group keplerd only.");
  }
  if (problem === "org.keplerd.History.NoSuchWorkload") return say("Nothing is recorded of this workload yet.");
  return say("keplerd-history cannot be read: $0", problem);
}
