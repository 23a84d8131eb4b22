// SPDX-License-Identifier: Apache-2.0
// The entry in Cockpit's menu; where Cockpit is older than that, po.de.js has it.
cockpit.locale({
  "": {
    "plural-forms": n => n !== 1,
    "language": "de",
    "language-direction": "ltr",
  },
  "Energy": [null, "Energie"],
});
