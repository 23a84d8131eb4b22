// SPDX-License-Identifier: Apache-2.0
// All details of one workload.

import { byId, claim, element, facts, setText, simpleTable } from "./dom.js";
import { date, duration, emissions, energy, error, money, percent, power } from "./format.js";
import { drawLive, summary } from "./graph.js";
import { reason, spans } from "./history.js";
import { translate as _ } from "./i18n.js";
import { printable } from "./text.js";
import { userName } from "./users.js";

const DAY = { length: 86400e6, step: "hour" };
const EVENTS = { started: _("started"), stopped: _("stopped"), paused: _("paused"), resumed: _("resumed"), crashed: _("crashed"),
                 "shutting-down": _("shutting down"), pmsuspended: _("suspended") };

function factsOf(row) {
  const text = value => value === undefined || value === null || value === "" ? undefined : claim(printable(value, 300));
  return facts([
    [_("Power"), power(row.powerMicrowatts)],
    [_("Energy"), energy(row.energyMicrojoules)],
    [_("Active"), energy(row.activeMicrojoules)],
    [_("Idle energy allocated to it"), row.idleMicrojoules > 0 ? energy(row.idleMicrojoules) : undefined],
    [_("Error"), error(row)],
    [_("CPU time"), duration(row.cpuUsec)],
    [_("State"), text(row.guestState ?? row.state)],
    [_("Owner"), text(userName(row.ownerUid))],
    [_("Title"), text(row.title)],
    [_("Hypervisor"), text(row.hypervisor)],
    [_("Virtual CPUs"), row.vcpus === undefined ? undefined : String(row.vcpus)],
    [_("Runtime"), text(row.runtime)],
    [_("Namespace"), text(row.namespace)],
    [_("Unit"), text(row.unit)],
    [_("Parent"), text(row.parent)],
    [_("Quality"), text(row.quality)],
    [_("Counted since"), date(row.sinceUsec)],
    [_("Id"), text(row.id)],
  ]);
}

function zonesOf(row) {
  if (!row.zones?.length) return [];
  return [element("h3", {}, _("By zone")), simpleTable(_("By zone"), [_("Zone"), _("Power"), _("Energy")],
    row.zones.map(zone => [claim(printable(zone.name)), power(zone.powerMicrowatts), energy(zone.energyMicrojoules)]))];
}

function partsOf(row) {
  if (!row.breakdown?.length) return [];
  return [element("h3", {}, _("By part")), simpleTable(_("By part"), [_("Part"), _("Energy"), _("Share")],
    row.breakdown.map(part => [claim(printable(part.name)), energy(part.energyMicrojoules),
                               percent(part.energyMicrojoules, row.energyMicrojoules)]))];
}

function eventsOf(events) {
  const items = events.map(event => element("li", {}, `${date(event.realtimeUsec)}: `,
    EVENTS[event.event] ?? printable(event.event), event.reason ? ` (${printable(event.reason)})` : ""));
  return [element("h3", {}, _("Events")), items.length ? element("ul", {}, ...items)
    : element("p", { class: "quiet" }, _("None since this page was opened."))];
}

function historyTable(all) {
  const recorded = all.filter(span => span.recordedUsec > 0 && span.rows.length > 0);
  if (recorded.length === 0) return element("p", { class: "quiet" }, _("Nothing is recorded of the last 24 hours yet."));
  const { currency } = recorded[0];
  const hasEmissions = recorded.some(span => span.rows[0].milligramsCO2e !== undefined);
  const total = { energyMicrojoules: 0, costMicro: 0, milligramsCO2e: 0 };
  const cells = (name, row) => [name, energy(row.energyMicrojoules), ...currency ? [money(row.costMicro, currency)] : [],
                                ...hasEmissions ? [emissions(row.milligramsCO2e)] : []];
  const rows = recorded.map(span => {
    for (const key of Object.keys(total)) total[key] += span.rows[0][key] ?? 0;
    return cells(date(span.fromUsec, { weekday: "short", hour: "2-digit", minute: "2-digit" }), span.rows[0]);
  });
  return simpleTable(_("The last 24 hours"), [_("Hour from"), _("Energy"), ...currency ? [_("Cost")] : [],
                                              ...hasEmissions ? [_("Emissions")] : []], rows, cells(_("Sum"), total));
}

export class Details {
  /** close() is called by the button. */
  constructor(close) {
    byId("details-back").addEventListener("click", close);
  }

  /** Begins to show the workload with this id, of one of keplerd's kinds. */
  open(kind, id) {
    this.shown = { kind, id };
    setText(byId("details-name"), printable(id));
    setText(byId("details-note"), _("Loading..."));
    for (const part of ["details-live", "details-history"]) byId(part).replaceChildren();
    byId("details-graph").replaceChildren();
    this.#loadHistory();
    byId("details-back").focus();
  }

  async #loadHistory() {
    const { shown } = this;
    const place = byId("details-history");
    const heading = element("h3", {}, _("The last 24 hours"));
    try {
      const all = await spans(shown.kind, shown.id, DAY);
      if (shown === this.shown) place.replaceChildren(heading, historyTable(all));
    } catch (failure) {
      if (shown === this.shown) place.replaceChildren(heading, element("p", { class: "quiet" }, reason(failure.problem ?? "")));
    }
  }

  /** The row in this sample, or undefined if there is none; its power over time, and the events of VMs. */
  update({ row, name, points, events, now }) {
    setText(byId("details-note"), row ? "" : _("keplerd has no such workload, or you may not see it."));
    byId("details-body").hidden = !row;
    if (!row) return;
    setText(byId("details-name"), printable(name));
    drawLive(byId("details-graph"), points, now);
    setText(byId("details-summary"), summary(points));
    byId("details-live").replaceChildren(factsOf(row), ...zonesOf(row), ...partsOf(row),
      ...row.kind === "virtual-machine" ? eventsOf(events.filter(event => event.id === row.id)) : []);
  }
}

