// SPDX-License-Identifier: Apache-2.0
// Names of workloads are chosen by users: they may be very long, and contain characters that change how their surroundings
// are displayed.

const LONGEST = 120;

// Control and format characters (among them those that change the direction of text), separators of lines and paragraphs,
// unpaired surrogates, and characters without a meaning of their own.
const HIDDEN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}\p{Co}\p{Cn}]/gu;

/** The text with such characters as \u{HEX}, cut to a number of characters. */
export function printable(text, longest = LONGEST) {
  const whole = String(text ?? "");
  const first = Array.from(whole.slice(0, 2 * longest)).slice(0, longest).join("");
  const shown = first.replace(HIDDEN, character => `\\u{${character.codePointAt(0).toString(16)}}`);
  const characters = Array.from(shown);
  if (first.length === whole.length && characters.length <= longest) return shown;
  return characters.slice(0, longest - 1).join("") + "…";
}
