// SPDX-License-Identifier: Apache-2.0
// The page: connects what follows keplerd with what shows it. Its address names the tab, and the workload that is shown in
// detail: #/vms/ID.

import { drawAccounts, explainAccounts } from "./accounts.js";
import { Details } from "./details.js";
import { byId, element, setText } from "./dom.js";
import { Follower } from "./follower.js";
import { say, translate as _ } from "./i18n.js";
import { KINDS } from "./kinds.js";
import { Overview } from "./overview.js";
import { describeSource, runChecks } from "./quality.js";
import { setUpReport } from "./report.js";
import { Series } from "./sums.js";
import { WorkloadTable } from "./table.js";
import { printable } from "./text.js";
import { followTheme } from "./theme.js";
import { lookUp, userName } from "./users.js";

const SPARK_LENGTH = 60, MOST_POINTS = 600, MOST_EVENTS = 200;

const overview = new Overview();
const table = new WorkloadTable(byId("workloads"), { open: openRow, nameOf });
const details = new Details(() => cockpit.location.go([tab]));
const report = setUpReport();
const follower = new Follower({ fresh, sample, lost });

let tab = "vms", shownId, owner, before, latest, isConnected = false;
let series = new Map(), shownPoints = new Series(MOST_POINTS), events = [];

function nameOf(row) {
  return row.kind === "user" ? userName(row.ownerUid) : row.name;
}

function openRow(row) {
  if (row.kind === "user") cockpit.location.go(["services"], row.id === "" ? {} : { owner: row.id });
  else cockpit.location.go([tab, row.id]);
}

// ---- what keplerd sends

function fresh() {
  series = new Map();
  if (isConnected) return; // only another kind is followed
  isConnected = true;
  runChecks(byId("checks-verdict"), byId("checks-list"));
  report.reload();
}

function sample(reply) {
  if (latest?.instanceId !== reply.instanceId) before = undefined;
  else if (reply.monotonicUsec > latest.monotonicUsec) before = latest;
  latest = reply;
  events = [...events, ...reply.events ?? []].slice(-MOST_EVENTS);
  showConnection(undefined);
  overview.sample(reply);
  if (before || !byId("accounts").hasChildNodes()) drawAccounts(byId("accounts"), before, reply);
  setText(byId("accounts-note"), explainAccounts(reply));
  showSource(reply);
  showRows();
}

function lost(problem) {
  isConnected = false;
  showConnection(problem);
}

function showConnection(problem) {
  byId("page").hidden = !latest;
  byId("page").classList.toggle("stale", problem !== undefined);
  byId("absent").hidden = problem === undefined;
  if (problem === undefined) return;
  const denied = problem === "org.varlink.service.PermissionDenied";
  setText(byId("absent-what"), denied ? _("You may not see the energy of this host") : latest ? _("The connection to keplerd is lost")
    : _("keplerd is not running"));
  setText(byId("absent-why"), denied
    ? _("Its administrator has limited access with Public= in keplerd.conf(5). Turn on administrative access to see it.")
    : latest ? _("The last values are shown. This page connects again as soon as keplerd runs.")
      : _("This page shows the energy of this host as soon as keplerd runs."));
  byId("start").hidden = denied;
}

function showSource(reply) {
  const { text, good } = describeSource(reply.source);
  setText(byId("source"), text);
  byId("source").classList.toggle("warning", !good);
  const problems = (reply.problems ?? []).map(problem => printable(problem.what, 300));
  if (byId("problems").dataset.shown === problems.join("\n")) return;
  byId("problems").dataset.shown = problems.join("\n");
  byId("problems").replaceChildren(...problems.map(what => element("li", { class: "warning" }, what)));
}

// ---- rows

function record(rows) {
  const ids = new Set();
  for (const row of rows) {
    ids.add(row.id);
    if (!series.has(row.id)) series.set(row.id, new Series(SPARK_LENGTH));
    series.get(row.id).add(row.powerMicrowatts);
  }
  for (const id of series.keys()) if (!ids.has(id)) series.delete(id);
}

function showRows() {
  const kind = KINDS[tab];
  const rows = kind.list([...follower.rows.values()]).filter(row => owner === undefined || String(row.ownerUid) === owner);
  record(rows);
  lookUp(rows.map(row => row.ownerUid)).catch(() => {});
  if (shownId === undefined) {
    table.update({ rows, whole: latest.host.energyMicrojoules, series, none: kind.none });
    return;
  }
  const row = follower.rows.get(shownId);
  if (row) shownPoints.add({ time: latest.realtimeUsec, power: row.powerMicrowatts, idle: row.idleMicrowatts ?? 0 });
  details.update({ row, name: row?.title || row?.name, points: shownPoints.values, events, now: latest.realtimeUsec });
}

// ---- where the user is

function showTabs() {
  for (const [key, { label }] of Object.entries(KINDS)) {
    let button = byId(`tab-${key}`);
    if (!button) {
      button = element("button", { type: "button", role: "tab", id: `tab-${key}`, "aria-controls": "panel",
                                   click: () => cockpit.location.go([key]), keydown: event => moveTab(event, key) }, label);
      byId("tabs").append(button);
    }
    button.setAttribute("aria-selected", String(key === tab));
    button.tabIndex = key === tab ? 0 : -1;
  }
  byId("panel").setAttribute("aria-labelledby", `tab-${tab}`);
}

function moveTab(event, key) {
  const keys = Object.keys(KINDS), step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
  if (!step) return;
  const next = keys[(keys.indexOf(key) + step + keys.length) % keys.length];
  cockpit.location.go([next]);
  byId(`tab-${next}`).focus();
  event.preventDefault();
}

function navigate() {
  const { path, options } = cockpit.location;
  const previous = tab;
  tab = Object.hasOwn(KINDS, path[0] ?? "") ? path[0] : "vms";
  owner = typeof options.owner === "string" ? options.owner : undefined;
  const id = path[1];
  table.show(tab, KINDS[tab].columns, KINDS[tab].label);
  showTabs();
  byId("owner").hidden = owner === undefined;
  setText(byId("owner-name"), owner === undefined ? "" : say("Of $0 only", userName(Number(owner))));
  byId("list").hidden = id !== undefined;
  byId("details").hidden = id === undefined;
  if (tab !== previous) series = new Map();
  const wasShown = shownId;
  if (id !== shownId) shownPoints = new Series(MOST_POINTS);
  shownId = id;
  if (id !== undefined) details.open(KINDS[tab].stream, id);
  follower.follow(KINDS[tab].stream);
  if (latest) overview.draw();
  if (follower.rows) showRows();
  if (id === undefined && wasShown !== undefined) byId(`tab-${tab}`).focus();
}

// ---- what the user does

async function start(units, note) {
  setText(note, _("Starting..."));
  try {
    await cockpit.spawn(["systemctl", "start", ...units], { superuser: "require", err: "message" });
    setText(note, "");
    follower.restart();
    report.reload();
  } catch (failure) {
    setText(note, failure.problem === "access-denied" ? _("Turn on administrative access to start it.")
      : say("It could not be started: $0", printable(failure.message, 300)));
  }
}

function setUp() {
  document.documentElement.lang = cockpit.language || "en";
  document.title = _("Energy");
  cockpit.translate();
  followTheme();
  byId("filter").addEventListener("input", event => { table.filter = event.target.value; });
  byId("owner-clear").addEventListener("click", () => cockpit.location.go([tab]));
  byId("start").addEventListener("click", () => start(["keplerd.socket", "keplerd.service"], byId("start-note")));
  byId("start-history").addEventListener("click", () => start(["keplerd-history.service"], byId("report-note")));
  byId("checks-again").addEventListener("click", () => runChecks(byId("checks-verdict"), byId("checks-list")));
  cockpit.addEventListener("locationchanged", navigate);
  cockpit.addEventListener("visibilitychange", () => follower.setVisible(!cockpit.hidden));
  // The bridge, which may go on for long, does not close the connection by itself when the page is left.
  window.addEventListener("pagehide", () => follower.setVisible(false));
  window.addEventListener("pageshow", () => follower.setVisible(!cockpit.hidden));
  // Administrative access was turned on or off: what may be seen is different now.
  const administrator = cockpit.permission({ admin: true });
  let wasAllowed = administrator.allowed;
  administrator.addEventListener("changed", () => {
    if (wasAllowed !== null && wasAllowed !== administrator.allowed) follower.restart();
    wasAllowed = administrator.allowed;
  });
  follower.setVisible(!cockpit.hidden);
  navigate();
}

cockpit.transport.wait(setUp);
