// SPDX-License-Identifier: Apache-2.0
// Source and quality of the numbers, and what `keplerctl doctor` finds, in words.

import { element, setText } from "./dom.js";
import { say, translate as _ } from "./i18n.js";
import { printable } from "./text.js";

const QUALITIES = {
  measured: _("measured: read from a counter of energy"),
  modelled: _("modelled: read from a counter that the hardware computes, or power multiplied by time"),
  attributed: _("attributed: the share of this guest in the energy of its host"),
  estimated: _("estimated from the CPU load, not measured"),
  simulated: _("simulated: these numbers are invented"),
};

/** One sentence, and whether the numbers can be relied upon. */
export function describeSource(source) {
  if (!source.quality) {
    return { text: say("Not measured: $0", printable(source.reason || _("no meter can be read"), 300)), good: false };
  }
  const quality = QUALITIES[source.quality] ?? printable(source.quality);
  const reason = source.reason ? ` (${printable(source.reason, 300)})` : "";
  return { text: say("Source: $0, $1", printable(source.name), quality) + reason,
           good: ["measured", "modelled", "attributed"].includes(source.quality) };
}

const STATES = { problem: _("Problem"), warning: _("Warning"), ok: _("OK"), unneeded: _("Not needed") };

function verdict(checks) {
  const count = state => checks.filter(check => check.state === state).length;
  const problems = count("problem"), warnings = count("warning");
  if (problems + warnings === 0) return say("All $0 checks are OK.", checks.length);
  return say("Problems: $0, warnings: $1, of $2 checks.", problems, warnings, checks.length);
}

function finding(check) {
  const item = element("li", { class: `finding ${check.state}` },
    element("strong", {}, `${STATES[check.state] ?? printable(check.state)}: ${printable(check.name)}. `),
    printable(check.found, 500));
  if (check.fix) item.append(element("p", { class: "quiet" }, printable(check.fix, 500)));
  return item;
}

/** Runs the checks once and shows the verdict, and what is not in order. */
export async function runChecks(summary, list) {
  setText(summary, _("Checking..."));
  let output = "";
  const asked = cockpit.spawn(["keplerctl", "--json=short", "doctor"], { superuser: "try", err: "message" });
  // Its exit status is not 0 if it finds a problem.
  const problem = await asked.stream(text => { output += text; }).then(() => undefined, failure => failure.message);
  try {
    const { checks } = JSON.parse(output);
    setText(summary, verdict(checks));
    const order = Object.keys(STATES);
    const findings = checks.filter(check => check.state === "problem" || check.state === "warning");
    findings.sort((a, b) => order.indexOf(a.state) - order.indexOf(b.state));
    list.replaceChildren(...findings.map(finding));
  } catch {
    setText(summary, say("keplerctl doctor failed: $0", printable(problem || output, 300)));
    list.replaceChildren();
  }
}
