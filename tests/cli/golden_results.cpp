// SPDX-License-Identifier: Apache-2.0
// keplerd-history's replies are in golden/history.json.
#include "cli/golden.h"
#include "cli/history/output.h"
#include "cli/output/width.h"
#include "cli/run/report.h"
#include "cli/run/series.h"
#include "varlink/json.h"

namespace keplerd::cli {
namespace {

using std::chrono::seconds;
using varlink::Json;

TableStyle results_style_of(const Look& look) {
  return {.bold_header = look.colour, .width = look.width, .unicode = look.unicode};
}

const Json& recorded() {
  static const Json kRecorded = Json::parse(read_golden("history.json"));
  return kRecorded;
}

std::vector<Json> spans_of(std::string_view kind) {
  const Json& spans = recorded().at(std::string(kind));
  return {spans.begin(), spans.end()};
}

run::Report build_of(std::int64_t joules) {
  run::Report report;
  report.command = {"make", "-j4", "CFLAGS=-O2 -g", "all"};
  report.duration = seconds(94);
  report.energy = Microjoules{joules * 1'000'000};
  report.active = report.energy;
  report.error = Microjoules{joules * 45'000};
  report.mean_power = Microwatts{joules * 1'000'000 / 94};
  report.peak_power = Microwatts{41'300'000};
  report.cpu = seconds(341);
  report.host_idle = Microjoules{1'640'000'000};
  report.host_active = Microjoules{joules * 1'120'000};
  report.resolution = Microjoules{61'000};
  report.source = {{"name", "powercap"}, {"quality", "measured"}};
  report.zones = {{"powercap:package:0", Microjoules{joules * 900'000}},
                  {"powercap:dram:0", Microjoules{joules * 100'000}}};
  report.programs = {{"cc1plus", Microjoules{joules * 800'000}, seconds(280)},
                     {"ld", Microjoules{joules * 120'000}, seconds(40)},
                     {"make", Microjoules{joules * 30'000}, seconds(9)}};
  report.other = Microjoules{joules * 50'000};
  report.still_running = {"ccache-server (PID 4711)"};
  return report;
}

run::Report unmeasured_build() {
  run::Report report;
  report.command = {"make"};
  report.exit_status = 2;
  report.duration = seconds(3);
  report.problem = "keplerd cannot be reached: /run/keplerd/org.keplerd.Energy: No such file or directory";
  return report;
}

std::string phases(const Look& look) {
  std::string file;
  for (const auto& [label, joules] :
       std::vector<std::pair<std::string, int>>{{"install", 410}, {"boot", 95}, {"idle", 12}}) {
    run::Report phase = build_of(joules);
    phase.label = label;
    auto appended = run::append_phase(file, run::report_json(phase));
    if (!appended) return appended.error().message;
    file = *appended;
  }
  const auto table = run::phases_table(file, results_style_of(look));
  return table ? *table : table.error().message;
}

}  // namespace

std::vector<Golden> golden_results() {
  const auto builds = [] { return std::vector{build_of(2310), build_of(2290), build_of(2350)}; };
  return {
      {"run", [](const Look& look) { return run::report_text(build_of(2310), results_style_of(look)); }},
      {"run-unmeasured",
       [](const Look& look) { return run::report_text(unmeasured_build(), results_style_of(look)); }},
      {"run-repeated",
       [=](const Look& look) {
         const std::string comparison =
             run::comparison_text("before.json", {2.60e9, 2.58e9, 2.64e9}, {2.31e9, 2.29e9, 2.35e9});
         return run::series_text(builds(), results_style_of(look)) + wrap_words(comparison, look.width);
       }},
      {"run-phases", phases},
      {"history",
       [](const Look& look) {
         return history::history_text({"host", ""}, spans_of("host"), false, results_style_of(look));
       }},
      {"history-graph",
       [](const Look& look) {
         return history::history_text({"host", ""}, spans_of("host"), true, results_style_of(look));
       }},
      {"history-vms",
       [](const Look& look) {
         return history::history_text({"vms", ""}, spans_of("vms"), false, results_style_of(look));
       }},
      {"report",
       [](const Look& look) {
         return history::report_text(recorded().at("report"), "vm", results_style_of(look));
       }},
  };
}

}  // namespace keplerd::cli
