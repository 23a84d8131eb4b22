// SPDX-License-Identifier: Apache-2.0
// Names of users, as the host knows them.

import { say, translate as _ } from "./i18n.js";

const MOST = 200; // users whose names are looked up at once
const names = new Map();

export function userName(uid) {
  if (uid === undefined) return _("unknown owner");
  return names.get(uid) || say("user $0", uid);
}

/** Looks up the names of these users that are not known yet. */
export async function lookUp(uids) {
  const wanted = [...new Set(uids)].filter(uid => uid !== undefined && !names.has(uid)).slice(0, MOST);
  if (wanted.length === 0) return;
  for (const uid of wanted) names.set(uid, "");
  let output = "";
  const asked = cockpit.spawn(["getent", "passwd", ...wanted.map(String)], { err: "ignore" });
  // Its exit status is 2 if one of them has no name.
  await asked.stream(text => { output += text; }).then(() => {}, () => {});
  for (const line of output.split("\n")) {
    const [name, , uid] = line.split(":");
    if (uid) names.set(Number(uid), name);
  }
}
