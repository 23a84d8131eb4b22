// SPDX-License-Identifier: Apache-2.0
// What is computed from keplerd's rows. Nothing here reads or shows anything.

export const ACCOUNTS = ["idle", "kernel", "workloads", "unattributed"];

/** Applies the changes of a reply of Monitor to the rows that are known, by their id. */
export function applyChanges(rows, reply) {
  for (const row of reply.rows ?? []) rows.set(row.id, row);
  for (const id of reply.removed ?? []) rows.delete(id);
}

const isServiceOrScope = path => /\.(service|scope)$/.test(path);

/** As in `keplerctl units`: all units except slices, and cgroups that are not inside a service or scope. */
export function isListedUnit(row) {
  if (row.kind === "unit" && /\.(service|scope|socket|mount|swap)$/.test(row.id)) return true;
  if (row.kind === "unit" && row.id.endsWith(".slice")) return false;
  const names = row.id.split("/");
  return !names.slice(0, -1).some(isServiceOrScope);
}

/** The power of a unit without that of the units in it; undefined if one of them is unknown. */
function ownPowers(units) {
  const own = new Map(units.map(row => [row.id, row.powerMicrowatts]));
  for (const row of units) {
    if (row.parent === undefined || !own.has(row.parent)) continue;
    const power = own.get(row.parent);
    own.set(row.parent, power === undefined || row.powerMicrowatts === undefined ? undefined : power - row.powerMicrowatts);
  }
  return own;
}

/**
 * Rows of users: the own energy of all units that belong to the user, without that of the units in them. Adds up to the own
 * energy of all units. Nothing is counted twice, so that the rows of VMs and containers, which are in units, are not needed.
 */
export function byUser(units) {
  const powers = ownPowers(units), users = new Map();
  for (const unit of units) {
    const id = unit.ownerUid === undefined ? "" : String(unit.ownerUid);
    let user = users.get(id);
    if (!user) {
      user = { id, name: id, kind: "user", state: "running", ownerUid: unit.ownerUid, energyMicrojoules: 0, powerMicrowatts: 0 };
      users.set(id, user);
    }
    user.energyMicrojoules += unit.ownMicrojoules ?? 0;
    const power = powers.get(unit.id);
    if (unit.state === "running") {
      // A child whose power was rounded up may seem to draw more than its parent.
      user.powerMicrowatts = power === undefined || user.powerMicrowatts === undefined ? undefined
        : user.powerMicrowatts + Math.max(0, power);
    }
  }
  return [...users.values()];
}

/** The power of each account between two replies; undefined if the counters do not continue, or nothing is known. */
export function accountPower(before, now) {
  if (!before?.accounts || !now?.accounts || before.instanceId !== now.instanceId) return undefined;
  const seconds = (now.monotonicUsec - before.monotonicUsec) / 1e6;
  if (seconds <= 0) return undefined;
  const powers = {};
  for (const account of ACCOUNTS) {
    powers[account] = Math.max(0, (now.accounts[account] - before.accounts[account]) / seconds);
  }
  return powers;
}

const FIELDS = { power: "powerMicrowatts", energy: "energyMicrojoules", cpu: "cpuUsec", error: "errorMicrojoules" };

function valueOf(row, key) {
  const value = row[FIELDS[key]];
  if (value === undefined || key !== "error") return value;
  return row.activeMicrojoules > 0 ? value / row.activeMicrojoules : undefined;
}

const byName = new Intl.Collator("en", { numeric: true, sensitivity: "base" });

/** A sorted copy. Unknown values are last in both directions, and rows that are equal keep a fixed order. */
export function sorted(rows, key, descending) {
  const direction = descending ? -1 : 1;
  return [...rows].sort((a, b) => {
    const tie = () => byName.compare(a.name, b.name) || (a.id < b.id ? -1 : a.id > b.id ? 1 : 0);
    if (key === "name") return direction * tie();
    const first = valueOf(a, key), second = valueOf(b, key);
    if (first === undefined || second === undefined) return (first === undefined) - (second === undefined) || tie();
    return direction * (first - second) || tie();
  });
}

/** The rows with this text in their name, title or id, whatever its case. */
export function filtered(rows, text) {
  const wanted = text.trim().toLowerCase();
  if (!wanted) return rows;
  return rows.filter(row => [row.name, row.title, row.id, row.namespace]
    .some(value => String(value ?? "").toLowerCase().includes(wanted)));
}

/** The last values of something, oldest first. */
export class Series {
  #values = [];
  #most;

  constructor(most) {
    this.#most = most;
  }

  add(value) {
    this.#values.push(value);
    if (this.#values.length > this.#most) this.#values.shift();
  }

  get values() {
    return this.#values;
  }
}
