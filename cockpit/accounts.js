// SPDX-License-Identifier: Apache-2.0
// Where the energy of the host goes: one bar, and a table with the same numbers. Without full access, keplerd reports only how
// much of it is idle energy.

import { element, simpleTable } from "./dom.js";
import { UNKNOWN, decimal, percent, roundedParts } from "./format.js";
import { say, translate as _ } from "./i18n.js";
import { ACCOUNTS, accountPower } from "./sums.js";

const LABELS = { idle: _("Idle"), kernel: _("Kernel"), workloads: _("Workloads"), unattributed: _("Unattributed"),
                 active: _("Active") };

function entries(before, now) {
  if (now.accounts) {
    const powers = accountPower(before, now);
    return ACCOUNTS.map(key => ({ key, power: powers?.[key], energy: now.accounts[key] }));
  }
  const { host } = now;
  return [{ key: "idle", power: host.idleMicrowatts, energy: host.idleMicrojoules },
          { key: "active", power: host.activeMicrowatts, energy: host.activeMicrojoules }];
}

const sum = (parts, field) => parts.reduce((total, part) => total + part[field], 0);

// Numbers that add up as they are shown.
function column(parts, field, [unit, name, digits]) {
  if (parts.some(part => part[field] === undefined)) return [...parts, undefined].map(() => UNKNOWN);
  const shown = roundedParts(parts.map(part => part[field]), sum(parts, field), unit, digits);
  const total = shown.reduce((all, part) => all + part, 0);
  return [...shown, total].map(value => `${decimal(value, digits)} ${name}`);
}

function energyUnit(total) {
  if (total < 3600e6) return [1e6, "J", 1];
  return total < 3600e9 ? [3600e6, "Wh", 2] : [3600e9, "kWh", 3];
}

/** Draws what was drawn between these replies, or, in the first one, since counting began. */
export function drawAccounts(place, before, now) {
  const parts = entries(before, now);
  const field = parts.every(part => part.power !== undefined) && sum(parts, "power") > 0 ? "power" : "energy";
  const whole = sum(parts, field);
  const shares = parts.map(part => percent(part[field], whole));
  const bar = element("div", { class: "bar", role: "img",
    "aria-label": parts.map((part, index) => `${LABELS[part.key]} ${shares[index]}`).join(", ") });
  for (const part of parts) {
    const piece = element("div", { class: `account ${part.key}` });
    piece.style.flexGrow = String(whole > 0 ? part[field] / whole : 0);
    bar.append(piece);
  }
  const powers = column(parts, "power", [1e6, "W", 2]);
  const energies = column(parts, "energy", energyUnit(sum(parts, "energy")));
  const names = parts.map(part => element("span", {}, element("span", { class: `swatch ${part.key}`, "aria-hidden": "true" }),
                                              LABELS[part.key]));
  place.replaceChildren(bar, simpleTable(_("Where the energy goes"),
    [_("Account"), _("Power now"), _("Share"), _("Energy")],
    parts.map((_part, index) => [names[index], powers[index], shares[index], energies[index]]),
    [_("Host"), powers.at(-1), percent(1, 1), energies.at(-1)]));
}

/** What the words mean, and what is not shown. */
export function explainAccounts(now) {
  if (!now.accounts) {
    return say("You see the host and your own workloads, once a second and in steps of 0.1 J. How the energy of the host is "
      + "divided is shown to administrators and members of the group keplerd.");
  }
  return say("Idle: not due to load. Kernel: kernel threads and interrupts. Workloads: units and processes, and what runs in "
    + "them. Unattributed: not attributable to any process. The energy is that since counting began.");
}
