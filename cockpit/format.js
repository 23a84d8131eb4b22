// SPDX-License-Identifier: Apache-2.0
// Numbers as text. Energy is in microjoules, power in microwatts, times are in microseconds, as keplerd sends them. Unknown
// values are undefined or null, and shown as a dash.

import { language } from "./i18n.js";

export const UNKNOWN = "–";

const known = value => value !== undefined && value !== null && Number.isFinite(value);

const formats = []; // by their digits: the language of a page does not change

export function decimal(value, digits) {
  formats[digits] ??= new Intl.NumberFormat(language(), { minimumFractionDigits: digits, maximumFractionDigits: digits });
  return formats[digits].format(value);
}

// An amount that is not 0 is not shown as 0.
function atLeast(value, digits, unit) {
  const smallest = 10 ** -digits;
  if (value > 0 && value < smallest) return `<${decimal(smallest, digits)} ${unit}`;
  return `${decimal(value, digits)} ${unit}`;
}

export function power(microwatts) {
  if (!known(microwatts)) return UNKNOWN;
  const watts = microwatts / 1e6;
  return watts < 10000 ? atLeast(watts, watts < 100 ? 2 : 1, "W") : `${decimal(watts / 1000, 2)} kW`;
}

/** Joules up to 1 Wh, then watt-hours and kilowatt-hours. */
export function energy(microjoules) {
  if (!known(microjoules)) return UNKNOWN;
  const joules = microjoules / 1e6;
  if (joules < 3600) return atLeast(joules, joules < 100 ? 2 : 0, "J");
  const hours = joules / 3600;
  return hours < 1000 ? `${decimal(hours, hours < 100 ? 2 : 1)} Wh` : `${decimal(hours / 1000, 2)} kWh`;
}

export function percent(part, whole, digits = 1) {
  if (!known(part) || !known(whole) || whole <= 0) return UNKNOWN;
  return atLeast(100 * part / whole, digits, "%");
}

/** Half the width of the 95 % interval of a row's active energy, in percent of it. */
export function error(row) {
  if (!known(row.errorMicrojoules) || !(row.activeMicrojoules > 0)) return "";
  return `±${decimal(100 * row.errorMicrojoules / row.activeMicrojoules, 0)} %`;
}

const SPANS = [["d", 86400], ["h", 3600], ["min", 60], ["s", 1]];

/** The two largest units: 2 h 5 min. */
export function duration(usec) {
  if (!known(usec)) return UNKNOWN;
  const seconds = usec / 1e6;
  if (seconds < 60) return atLeast(seconds, 2, "s");
  const first = SPANS.findIndex(([, length]) => seconds >= length);
  const [unit, length] = SPANS[first];
  const [next, shorter] = SPANS[first + 1];
  const whole = Math.floor(seconds / length), rest = Math.floor((seconds - whole * length) / shorter);
  return rest > 0 ? `${whole} ${unit} ${rest} ${next}` : `${whole} ${unit}`;
}

const LONG = { year: "numeric", month: "short", day: "numeric", hour: "2-digit", minute: "2-digit", second: "2-digit" };

export function date(usec, options = LONG) {
  return known(usec) ? new Intl.DateTimeFormat(language(), options).format(new Date(usec / 1000)) : UNKNOWN;
}

/** A currency of cost.conf is whatever its administrator wrote there; codes of ISO 4217 are shown as the language does. */
export function money(micro, currency) {
  if (!known(micro)) return UNKNOWN;
  const amount = micro / 1e6;
  if (/^[A-Z]{3}$/.test(currency ?? "")) {
    return new Intl.NumberFormat(language(), { style: "currency", currency, minimumFractionDigits: 2 }).format(amount);
  }
  return `${decimal(amount, 2)} ${currency ?? ""}`.trim();
}

export function emissions(milligrams) {
  if (!known(milligrams)) return UNKNOWN;
  const grams = milligrams / 1000;
  return grams < 1000 ? atLeast(grams, grams < 100 ? 1 : 0, "g CO₂e") : `${decimal(grams / 1000, 2)} kg CO₂e`;
}

/**
 * The parts in steps of 1/10^digits of the unit, rounded so that they add up to the rounded total (largest remainders), if
 * they add up to the total.
 */
export function roundedParts(parts, total, unit, digits) {
  const step = unit / 10 ** digits;
  const exact = parts.map(part => part / step);
  const rounded = exact.map(Math.floor);
  const left = Math.round(total / step) - rounded.reduce((sum, part) => sum + part, 0);
  const order = exact.map((part, index) => [part - rounded[index], index]).sort((a, b) => b[0] - a[0] || a[1] - b[1]);
  for (const [, index] of order.slice(0, Math.max(0, left))) rounded[index] += 1;
  return rounded.map(part => part / 10 ** digits);
}
