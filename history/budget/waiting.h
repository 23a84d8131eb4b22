// SPDX-License-Identifier: Apache-2.0
// Crossings of budgets whose services have not been started yet, because an earlier one still runs. They are
// kept in a file, so that none is forgotten when keplerd-history is restarted.
#pragma once

#include <cstddef>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "history/budget/budgets.h"

namespace keplerd::history {

struct Crossing {
  BudgetUse use;
  int percent = 0;
};

// A line of the file: the percentage, the energy used (microjoules), begin and end of the period
// (microseconds since the epoch), and the budget as configured.
std::string crossing_line(const Crossing& crossing);
// Nothing if it is not such a line; of the budget, only the text is set.
std::optional<Crossing> parse_crossing(std::string_view line);

class WaitingCrossings {
 public:
  // Of one service: two percentages of an hour, a day and a month, and some more.
  static constexpr std::size_t kMostOfOne = 20;

  // `file` is replaced atomically, and removed while nothing waits. One line for each crossing.
  explicit WaitingCrossings(std::string file) : file_(std::move(file)) {}

  // What an earlier keplerd-history has left, of those budgets that are still configured. Fails if the file
  // cannot be read, or a line is not understood: those before it are loaded.
  Result<Done> load(const std::vector<Budget>& configured);

  // The oldest of its service if there are too many: it is not waited for any more.
  std::optional<Crossing> add(Crossing crossing);
  std::optional<Crossing> take(const std::string& service);  // the oldest

  bool has(const std::string& service) const { return waiting_.contains(service); }
  std::vector<std::string> services() const;

  // To be called after changes.
  Result<Done> save() const;

 private:
  std::string file_;
  std::map<std::string, std::deque<Crossing>> waiting_;  // by service
};

}  // namespace keplerd::history
