// SPDX-License-Identifier: Apache-2.0
// The tabs: what each follows, and which of its rows it lists.

import { translate as _ } from "./i18n.js";
import { byUser, isListedUnit } from "./sums.js";

const ALL = rows => rows;
const WITH_CPU = ["name", "power", "energy", "error", "cpu"];

export const KINDS = {
  vms: { label: _("Virtual machines"), stream: "vms", list: ALL, columns: WITH_CPU,
         none: _("There are no virtual machines that you may see.") },
  services: { label: _("Services"), stream: "units", list: rows => rows.filter(isListedUnit), columns: WITH_CPU,
              none: _("There are no services that you may see.") },
  containers: { label: _("Containers"), stream: "containers", list: ALL, columns: WITH_CPU,
                none: _("There are no containers that you may see.") },
  pods: { label: _("Pods"), stream: "pods", list: ALL, columns: WITH_CPU, none: _("There are no pods that you may see.") },
  users: { label: _("Users"), stream: "units", list: byUser, columns: ["name", "power", "energy"],
           none: _("There are no units that you may see.") },
};

export const COLUMNS = {
  name: { label: _("Name") },
  power: { label: _("Power") },
  energy: { label: _("Energy") },
  error: { label: _("Error"), hint: _("Half the width of the 95 % interval of the active energy") },
  cpu: { label: _("CPU time") },
};
