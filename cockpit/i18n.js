// SPDX-License-Identifier: Apache-2.0
// Translation by Cockpit's own mechanism (po.LANG.js). Where there is no Cockpit, as in unit tests, text is English.

const cockpit = globalThis.cockpit;

export const translate = text => cockpit ? cockpit.gettext(text) : text;

/** The translated text, with $0, $1, ... replaced by the values. */
export function say(text, ...values) {
  return translate(text).replace(/\$(\d)/g, (_, index) => String(values[Number(index)]));
}

/** Of the user's language, as Intl expects it. */
export const language = () => (cockpit?.language || "en").replace("_", "-");
