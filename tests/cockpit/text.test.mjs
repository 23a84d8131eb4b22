// SPDX-License-Identifier: Apache-2.0
import assert from "node:assert/strict";
import { test } from "node:test";

import { monthBounds, monthName, pointsOf } from "../../cockpit/history.js";
import { areaPath, axis, linePath, sparkPath } from "../../cockpit/scale.js";
import { printable } from "../../cockpit/text.js";
import { Messages } from "../../cockpit/varlink.js";

test("characters that change how their surroundings are displayed are shown as numbers", () => {
  assert.equal(printable("a\u202egnp.exe\u2066\x1b[31m\n\u200b"), "a\\u{202e}gnp.exe\\u{2066}\\u{1b}[31m\\u{a}\\u{200b}");
  assert.equal(printable("\ud800x"), "\\u{d800}x");
  assert.equal(printable("Zoë 数据库 ملف 🖥"), "Zoë 数据库 ملف 🖥");
});

test("long names are cut, also those that become longer", () => {
  assert.equal(printable("n".repeat(10_000)).length, 120);
  assert.equal(Array.from(printable("\u202e".repeat(10_000))).length, 120);
  assert.equal(Array.from(printable("🖥".repeat(200), 10)).length, 10);
  assert.equal(printable("n".repeat(120)), "n".repeat(120));
  assert.equal(printable(undefined), "");
});

test("messages are put together, wherever they are divided", () => {
  const bytes = new TextEncoder().encode('{"a":"ä🖥"}\0{"b":9007199254740993}\0');
  for (let cut = 0; cut <= bytes.length; ++cut) {
    const messages = new Messages();
    const all = [...messages.add(bytes.subarray(0, cut)), ...messages.add(bytes.subarray(cut))];
    assert.deepEqual(all, [{ a: "ä🖥" }, { b: 9007199254740992 }]);
  }
});

test("the axis has three to five lines of round numbers", () => {
  for (const largest of [0, 0.02, 0.9, 1, 3, 4.1, 30.8, 68.6, 99, 100, 2345]) {
    const { step, end } = axis(largest);
    assert.ok(end >= largest && end / step <= 5 + 1e-9, `${largest}: ${step} ${end}`);
    assert.match(step.toExponential(), /^[125](\.0*\d*)?e/);
  }
  assert.deepEqual(axis(0), axis(1), "an empty graph");
});

test("lines and areas are interrupted where nothing is known", () => {
  const points = [{ time: 0, value: 1 }, { time: 1, value: 2 }, { time: 2, value: undefined }, { time: 3, value: 1 }, { time: 9, value: 1 }];
  const same = value => value;
  assert.equal(linePath(points, same, same, 2), "M0.0 1.0L1.0 2.0M3.0 1.0M9.0 1.0");
  assert.equal(areaPath(points, same, same, 2),
    "M0.0 0.0L0.0 1.0L1.0 2.0L1.0 0.0ZM3.0 0.0L3.0 1.0L3.0 0.0ZM9.0 0.0L9.0 1.0L9.0 0.0Z");
  assert.equal(sparkPath([undefined, 5], 80, 22), "");
  assert.equal(sparkPath([0, 5, 10], 80, 22), "M0.0 21.0L40.0 11.0L80.0 1.0");
});

test("spans are steps of their mean power while something was recorded", () => {
  const span = { fromUsec: 0, toUsec: 10e6, recordedUsec: 5e6, energyMicrojoules: 100e6, accounts: { idle: 50e6 } };
  const points = pointsOf([span, { fromUsec: 10e6, toUsec: 20e6, recordedUsec: 0 }], s => s.energyMicrojoules, s => s.accounts?.idle);
  assert.deepEqual(points.map(point => [point.time, point.power, point.idle]),
    [[0, 20e6, 10e6], [10e6, 20e6, 10e6], [10e6, undefined, undefined], [20e6, undefined, undefined]]);
});

test("months of local time", () => {
  const { first, next } = monthBounds(1, new Date(2026, 0, 31));
  assert.deepEqual([monthName(first), monthName(next)], ["2025-12", "2026-01"]);
});
