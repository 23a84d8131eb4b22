// SPDX-License-Identifier: Apache-2.0
import assert from "node:assert/strict";
import { test } from "node:test";

import { UNKNOWN, duration, emissions, energy, error, money, percent, power, roundedParts } from "../../cockpit/format.js";

test("power is in watts, and what is not 0 is not shown as 0", () => {
  assert.equal(power(0), "0.00 W");
  assert.equal(power(4_000), "<0.01 W");
  assert.equal(power(30_799_510), "30.80 W");
  assert.equal(power(123_456_000), "123.5 W");
  assert.equal(power(12_345_000_000), "12.35 kW");
});

test("energy is in joules up to a watt-hour", () => {
  assert.equal(energy(9_999), "<0.01 J");
  assert.equal(energy(153_580_000), "154 J");
  assert.equal(energy(3_600_000_000), "1.00 Wh");
  assert.equal(energy(3_600_000_000_000), "1.00 kWh");
  // Years of a rack: beyond 2^53 microjoules, where a double is rounded to an even microjoule.
  assert.equal(energy(Number("36000000000000001")), "10,000.00 kWh");
});

test("what is not known is a dash", () => {
  for (const format of [power, energy, duration, emissions]) {
    assert.equal(format(undefined), UNKNOWN);
    assert.equal(format(null), UNKNOWN);
    assert.equal(format(NaN), UNKNOWN);
  }
  assert.equal(percent(1, 0), UNKNOWN);
  assert.equal(money(undefined, "EUR"), UNKNOWN);
});

test("an error is relative to the active energy, and empty without one", () => {
  assert.equal(error({ errorMicrojoules: 12, activeMicrojoules: 100 }), "±12 %");
  assert.equal(error({ activeMicrojoules: 100 }), "");
  assert.equal(error({ errorMicrojoules: 12, activeMicrojoules: 0 }), "");
});

test("durations have two units", () => {
  assert.equal(duration(4_890_000), "4.89 s");
  assert.equal(duration(7_500_000_000), "2 h 5 min");
  assert.equal(duration(86_400_000_000), "1 d");
  assert.equal(duration(60_000_000), "1 min");
});

test("money has the currency that cost.conf names", () => {
  assert.equal(money(1_234_000, "EUR"), "€1.23");
  assert.equal(money(1_234_000, "points"), "1.23 points");
  assert.equal(money(1_234_000, undefined), "1.23");
});

test("parts add up as they are shown", () => {
  const add = parts => parts.reduce((sum, part) => sum + Math.round(part * 100), 0);
  assert.deepEqual(roundedParts([333_333, 333_333, 333_334], 1_000_000, 1e6, 2), [0.33, 0.33, 0.34]);
  let seed = 7;
  const random = most => (seed = seed * 48271 % 2147483647) % most;
  for (let round = 0; round < 1000; ++round) {
    const parts = Array.from({ length: 4 }, () => random(1e9));
    const total = parts.reduce((sum, part) => sum + part, 0);
    const rounded = roundedParts(parts, total, 1e6, 2);
    assert.equal(add(rounded), Math.round(total / 1e4));
    rounded.forEach((part, index) => assert.ok(Math.abs(part - parts[index] / 1e6) < 0.01));
  }
});
