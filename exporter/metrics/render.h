// SPDX-License-Identifier: Apache-2.0
// Renders all metrics as text: keplerd's latest data, and the exporter's own usage. Pure. keplerd-exporter(8)
// lists them; those that begin with "kepler_" have the names and labels of Kepler
// (github.com/sustainable-computing-io/kepler, internal/exporter/prometheus/collector).
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "cost/rates.h"
#include "exporter/budgets.h"
#include "exporter/metrics/exposition.h"
#include "exporter/processors.h"
#include "exporter/snapshot.h"
#include "exporter/top_processes.h"

namespace keplerd::exporter {

// Per kind; if a kind has more, only the rows that used most energy are included.
inline constexpr std::size_t kMostSeriesOfKind = 20'000;

// The exporter's own resource usage.
struct OwnCost {
  CpuTime cpu{0};
  std::int64_t resident_bytes = 0;
  std::chrono::microseconds started{0};  // since 1970
};

struct RenderInput {
  const Snapshot& snapshot;
  const TopProcesses& processes;
  const std::vector<Processor>& processors;
  std::string_view node_name, version, architecture;
  bool up = false;  // keplerd can be reached
  Rates rates = {};
  std::vector<BudgetRow> budgets = {};
  OwnCost own;
  std::size_t most_series_of_kind = kMostSeriesOfKind;
  std::size_t expected_size = 0;  // of the text; 0: not known
};

struct Rendered {
  std::string text;
  std::array<std::size_t, client::kKinds.size()> left_out{};  // rows, by kind
};

Rendered render_metrics(const RenderInput& input, Format format);

}  // namespace keplerd::exporter
