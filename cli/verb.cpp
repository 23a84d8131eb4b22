// SPDX-License-Identifier: Apache-2.0
#include "cli/verb.h"

namespace keplerd::cli {

const Verb& default_verb() {
  static const Verb kDefault = {"", "", {.wall = true, .hosts = true}, run_overview};
  return kDefault;
}

const std::vector<Verb>& verbs() {
  static const std::vector<Verb> kVerbs = {
      {"status",
       "Power and energy of the host, its accounts, source and cost",
       {.wall = true, .hosts = true},
       run_status},
      {"units",
       "Energy of every systemd unit and other cgroup",
       {.list = true, .units = true, .idle = true, .wall = true, .hosts = true},
       run_units,
       {"unit"}},
      {"vms",
       "Energy of every virtual machine",
       {.list = true, .idle = true, .wall = true, .hosts = true},
       run_vms,
       {"vm", "machines", "virtual-machines"}},
      {"containers",
       "Energy of every container",
       {.list = true, .idle = true, .wall = true, .hosts = true},
       run_containers,
       {"container"}},
      {"pods",
       "Energy of every Kubernetes pod",
       {.list = true, .idle = true, .wall = true, .hosts = true},
       run_pods,
       {"pod"}},
      {"processes",
       "Energy of every process",
       {.list = true, .wall = true, .hosts = true},
       run_processes,
       {"process", "ps"}},
      {"apps",
       "Energy of the applications of users' sessions, by their names",
       {.list = true, .wall = true, .hosts = true, .socket = true},
       run_apps,
       {"app"}},
      {"zones",
       "The host's energy zones: packages, memory, ...",
       {.list = true, .hosts = true},
       run_zones,
       {"zone"}},
      {"show",
       "Details of one unit, virtual machine, container, pod, process or zone",
       {.wall = true, .id = true},
       run_show},
      {"monitor",
       "Follow the host, or all rows of a kind, live",
       {.list = true, .wall = true, .ticks = true, .kind = true},
       run_monitor},
      {"top", "Live screen of what draws power", {.wall = true, .kind = true, .hosts = true}, run_top},
      {"history",
       "Energy of the host, a unit, a VM, ... over time",
       {.wall = true, .history = true, .subject = true},
       run_history},
      {"report",
       "Energy and cost of a month or a day, and who used it",
       {.wall = true, .history = true, .by = true, .hosts = true},
       run_report},
      {"budgets",
       "Budgets of energy, and how much of them is used",
       {.socket = true},
       run_budgets,
       {"budget"}},
      {"run", "Run a command, and report the energy it used", {.run = true}, run_run},
      {"record", "Record what keplerd divides, for keplerd --replay", {.record = true}, run_record},
      {"calibrate",
       "Measure the idle power of a quiet host, for keplerd to use",
       {.host = true, .calibrate = true},
       run_calibrate},
      {"doctor", "Check what keplerd needs, and suggest fixes", {.host = true, .capture = true}, run_doctor},
      {"help", "Show this help, or that of a verb", {.verb = true}, nullptr},
  };
  return kVerbs;
}

}  // namespace keplerd::cli
