// SPDX-License-Identifier: Apache-2.0
// The options of `keplerctl history` and `keplerctl report`.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace keplerd::cli::history {

inline constexpr const char* kDefaultAddress = "/run/keplerd-history/org.keplerd.History";

struct HistoryOptions {
  std::string address = kDefaultAddress;  // --history-socket
  std::vector<std::string> what;          // of history: [KIND] [ID]; empty: the host
  std::string since, until, month, day;   // as given; empty: not
  std::string step;                       // of history; empty: one that suits the period
  std::string by = "unit";                // of report
  bool graph = false;                     // of history
  std::int64_t functional_units = 0;      // of report; 0: no Software Carbon Intensity
};

}  // namespace keplerd::cli::history
