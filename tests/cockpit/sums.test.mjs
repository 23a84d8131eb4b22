// SPDX-License-Identifier: Apache-2.0
import assert from "node:assert/strict";
import { test } from "node:test";

import { Series, accountPower, applyChanges, byUser, filtered, isListedUnit, sorted } from "../../cockpit/sums.js";

const unit = (id, own, power, more = {}) =>
  ({ id, name: id.split("/").pop(), kind: "unit", state: "running", energyMicrojoules: own + 1000, ownMicrojoules: own, powerMicrowatts: power, ...more });

test("a reply changes the rows that it names", () => {
  const rows = new Map();
  applyChanges(rows, { rows: [{ id: "a", v: 1 }, { id: "b", v: 1 }] });
  applyChanges(rows, { rows: [{ id: "a", v: 2 }], removed: ["b", "never seen"] });
  applyChanges(rows, {});
  assert.deepEqual([...rows.values()], [{ id: "a", v: 2 }]);
});

test("the units that keplerctl lists", () => {
  const listed = (id, kind = "unit") => isListedUnit({ id, kind });
  assert.ok(listed("/system.slice/a.service"));
  assert.ok(listed("/user.slice/user-1.slice/user@1.service/app.slice/b.scope"));
  assert.ok(listed("/docker", "group"));
  assert.ok(!listed("/system.slice"));
  assert.ok(!listed("/system.slice/a.service/worker", "group"));
});

test("users have the own energy and power of their units, each counted once", () => {
  const units = [unit("/u.slice", 5, 900, { ownerUid: 0 }), unit("/u.slice/a.scope", 70, 600, { ownerUid: 1000, parent: "/u.slice" }),
                 unit("/u.slice/a.scope/in", 7, 100, { ownerUid: 1000, parent: "/u.slice/a.scope" }),
                 unit("/ended.service", 3, 0, { ownerUid: 0, state: "terminated" }), unit("/x", 2, 50)];
  const users = Object.fromEntries(byUser(units).map(user => [user.id, [user.energyMicrojoules, user.powerMicrowatts]]));
  assert.deepEqual(users, { 0: [8, 300], 1000: [77, 600], "": [2, 50] });
});

test("the power of a user is unknown if that of one of the units is", () => {
  const [user] = byUser([unit("/a", 1, undefined, { ownerUid: 1 }), unit("/b", 1, 5, { ownerUid: 1 })]);
  assert.equal(user.powerMicrowatts, undefined);
});

test("the power of accounts is what was added to them", () => {
  const reply = (time, idle, instanceId = "i") =>
    ({ instanceId, monotonicUsec: time, accounts: { idle, kernel: 1, workloads: idle, unattributed: 0 } });
  assert.deepEqual(accountPower(reply(0, 0), reply(2_000_000, 6)), { idle: 3, kernel: 0, workloads: 3, unattributed: 0 });
  assert.equal(accountPower(undefined, reply(1, 1)), undefined);
  assert.equal(accountPower(reply(0, 9), reply(1, 1, "another")), undefined);
  assert.equal(accountPower(reply(1, 0), reply(1, 0)), undefined);
  assert.equal(accountPower(reply(1, 0), { instanceId: "i", monotonicUsec: 2 }), undefined);
});

test("rows are sorted by numbers, the unknown ones last in both directions", () => {
  const rows = [unit("/a", 1, 5), unit("/b", 2, undefined), unit("/c10", 3, 9), unit("/c9", 4, 9)];
  const ids = (...how) => sorted(rows, ...how).map(row => row.id);
  assert.deepEqual(ids("power", true), ["/c9", "/c10", "/a", "/b"]);
  assert.deepEqual(ids("power", false), ["/a", "/c9", "/c10", "/b"]);
  assert.deepEqual(ids("name", false), ["/a", "/b", "/c9", "/c10"]);
});

test("the filter looks into names, titles and ids, whatever the case", () => {
  const rows = [{ id: "1", name: "Web" }, { id: "2", name: "db", title: "The WEB shop" }, { id: "web-3", name: "x" }, { id: "4", name: "y" }];
  assert.deepEqual(filtered(rows, " wEb ").map(row => row.id), ["1", "2", "web-3"]);
  assert.equal(filtered(rows, "  "), rows);
});

test("a series keeps the last values", () => {
  const series = new Series(3);
  for (let value = 0; value < 5; ++value) series.add(value);
  assert.deepEqual(series.values, [2, 3, 4]);
});
