// SPDX-License-Identifier: Apache-2.0
// The report of a month, by keplerd-history, and its CSV, by keplerctl: programs get the exact numbers.

import { byId, claim, element, setText, simpleTable } from "./dom.js";
import { date, duration, emissions, energy, money, percent } from "./format.js";
import { monthBounds, monthName, reason } from "./history.js";
import { say, translate as _ } from "./i18n.js";
import { printable } from "./text.js";
import { lookUp, userName } from "./users.js";
import { HISTORY, replies } from "./varlink.js";

const MONTHS = 12, MOST = 100;
const BY = { vm: _("Virtual machine"), unit: _("Unit"), user: _("User"), slice: _("Slice"), project: _("Project"),
             container: _("Container"), pod: _("Pod") };
const REST = { other: _("Other workloads"), idle: _("Idle"), kernel: _("Kernel"), unattributed: _("Unattributed") };

const chosenMonth = () => monthBounds(Number(byId("report-month").value));

function fillChoices() {
  byId("report-month").replaceChildren(...Array.from({ length: MONTHS }, (_item, ago) =>
    element("option", { value: String(ago) }, date(monthBounds(ago).first * 1000, { year: "numeric", month: "long" }))));
  byId("report-by").replaceChildren(...Object.entries(BY).map(([value, label]) => element("option", { value }, label)));
}

function cells(name, row, report, whole) {
  const shown = [name, energy(row.energyMicrojoules), percent(row.energyMicrojoules, whole)];
  if (report.currency) shown.push(money(row.costMicro, report.currency));
  if (report.milligramsCO2e !== undefined) shown.push(emissions(row.milligramsCO2e));
  return shown;
}

function headers(report) {
  const all = [BY[byId("report-by").value], _("Energy"), _("Share")];
  if (report.currency) all.push(_("Cost"));
  if (report.milligramsCO2e !== undefined) all.push(_("Emissions"));
  return all;
}

const sumOf = report => report.rows.reduce((total, row) => total + row.energyMicrojoules, 0);

function rowsOf(report) {
  const nameOf = row => byId("report-by").value === "user" ? userName(row.ownerUid) : row.name || row.id;
  const largest = [...report.rows].sort((a, b) => b.energyMicrojoules - a.energyMicrojoules);
  const whole = report.energyMicrojoules ?? sumOf(report);
  const rows = largest.slice(0, MOST).map(row => cells(claim(printable(nameOf(row))), row, report, whole));
  for (const key of Object.keys(report.accounts ? REST : {})) {
    rows.push(cells(REST[key], { energyMicrojoules: report.accounts[key], ...report.accountCosts?.[key] }, report, whole));
  }
  return rows;
}

function totalOf(report) {
  const whole = report.energyMicrojoules ?? sumOf(report);
  const total = { energyMicrojoules: whole, costMicro: report.costMicro, milligramsCO2e: report.milligramsCO2e };
  return cells(report.energyMicrojoules === undefined ? _("Your workloads") : _("Host"), total, report, whole);
}

function notes(report) {
  const all = [];
  if (report.rows.length > MOST) all.push(say("The $0 largest of $1 are shown; the CSV file has all.", MOST, report.rows.length));
  if (report.unrecordedUsec > 0) all.push(say("Nothing is recorded for $0 of this month.", duration(report.unrecordedUsec)));
  if (report.ratesProblem) all.push(say("There are no costs: $0", printable(report.ratesProblem, 300)));
  return all.join(" ");
}

let loading; // the last call: earlier ones, whose choice has changed meanwhile, show nothing

async function load() {
  const asked = loading = {};
  const { first, next } = chosenMonth();
  setText(byId("report-note"), _("Loading..."));
  try {
    const [report] = await replies(HISTORY, "org.keplerd.History.Report",
      { fromUsec: first * 1000, toUsec: Math.min(next * 1000, Date.now() * 1000), by: byId("report-by").value });
    if (byId("report-by").value === "user") await lookUp(report.rows.map(row => row.ownerUid));
    if (asked !== loading) return;
    byId("report-rows").replaceChildren(simpleTable(_("Report"), headers(report), rowsOf(report), totalOf(report)));
    setText(byId("report-note"), notes(report));
    byId("report-csv").disabled = false;
  } catch (failure) {
    if (asked !== loading) return;
    byId("report-rows").replaceChildren();
    byId("report-csv").disabled = true;
    setText(byId("report-note"), reason(failure.problem ?? failure.message));
  }
  byId("start-history").hidden = !byId("report-csv").disabled;
}

function save(text, name) {
  const address = URL.createObjectURL(new Blob([text], { type: "text/csv" }));
  const link = element("a", { href: address, download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), 60000);
}

async function download() {
  const month = monthName(chosenMonth().first), by = byId("report-by").value;
  try {
    const text = await cockpit.spawn(["keplerctl", "report", `--month=${month}`, `--by=${by}`, "--output=csv"],
                                     { superuser: "try", err: "message" });
    save(text, `energy-${month}-by-${by}.csv`);
    setText(byId("report-note"), say("Downloaded energy-$0-by-$1.csv.", month, by));
  } catch (failure) {
    setText(byId("report-note"), say("keplerctl report failed: $0", printable(failure.message, 300)));
  }
}

/** Loads the report when it is opened, and when something else is chosen. */
export function setUpReport() {
  fillChoices();
  const section = byId("report");
  section.addEventListener("toggle", () => section.open && load());
  byId("report-month").addEventListener("change", load);
  byId("report-by").addEventListener("change", load);
  byId("report-csv").addEventListener("click", download);
  return { reload: () => section.open && load() };
}
