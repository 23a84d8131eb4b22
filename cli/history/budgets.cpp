// SPDX-License-Identifier: Apache-2.0
#include "cli/history/budgets.h"

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "cli/fields.h"
#include "cli/history/output.h"
#include "cli/output/human.h"
#include "varlink/json.h"

namespace keplerd::cli::history {
namespace {

constexpr std::string_view kUsed = "usedMicrojoules", kLimit = "limitMicrojoules", kUsedUp = "usedUpUsec";

struct Use {
  std::int64_t used = 0, limit = 0;
  Time from{0}, to{0};
};

std::optional<Use> use_of(const Json& budget) {
  const auto used = integer_field(budget, kUsed), limit = integer_field(budget, kLimit);
  const auto from = integer_field(budget, "fromUsec"), to = integer_field(budget, "toUsec");
  if (!used || !limit || !from || !to || *used < 0 || *limit <= 0) return std::nullopt;
  return Use{*used, *limit, Time(*from), Time(*to)};
}

// When it is used up, if it is used as before; nothing if that is after the period.
std::optional<Time> used_up_at(const Use& use, Time now) {
  constexpr int kLeast = 100;
  if (use.used == 0 || (now - use.from) * kLeast < use.to - use.from) return std::nullopt;
  const auto length = static_cast<__int128>((now - use.from).count()) * use.limit / use.used;
  if (length >= (use.to - use.from).count()) return std::nullopt;
  return use.from + Time(static_cast<std::int64_t>(length));
}

}  // namespace

Json budgets_json(const Json& reply, Time now) {
  Json budgets = Json::array();
  for (Json budget : client::elements(field(reply, "budgets"))) {
    if (const auto use = use_of(budget)) {
      budget["percentUsed"] = static_cast<std::int64_t>(static_cast<__int128>(use->used) * 100 / use->limit);
      const auto at = use->used < use->limit ? used_up_at(*use, now) : std::nullopt;
      if (at) budget[std::string(kUsedUp)] = at->count();
    }
    budgets.push_back(std::move(budget));
  }
  return budgets;
}

std::string budgets_text(const Json& budgets, const TableStyle& style) {
  if (budgets.empty()) return "There are no budgets (Budget=, see keplerd-history(8)).\n";
  Table table({{.header = "BUDGET", .align = Align::kLeft, .gives_way = Keep::kStart, .leaves = 0},
               {.header = "USED", .leaves = 0},
               {.header = "LIMIT", .leaves = 3},
               {.header = "PERCENT", .leaves = 1},
               {.header = "USED UP", .align = Align::kLeft, .leaves = 2}});
  std::string problems;
  for (const Json& budget : budgets) {
    const auto use = use_of(budget);
    const auto at = integer_field(budget, kUsedUp);
    std::string end = at ? "about " + format_minute(Time(*at)) : "";
    if (use && use->used >= use->limit) end = "yes";
    table.add_row({name_text(budget, "budget"), energy_text(budget, kUsed), energy_text(budget, kLimit),
                   use ? fmt::format("{} %", integer_field(budget, "percentUsed").value_or(0)) : "", end});
    if (!name_text(budget, "problem").empty())
      problems += name_text(budget, "budget") + ": " + name_text(budget, "problem") + "\n";
  }
  return table.text(style) + (problems.empty() ? "" : "\n" + problems);
}

std::string budgets_csv(const Json& budgets) {
  constexpr std::array<std::string_view, 9> kNames = {"budget",   "subject", kUsed,   kLimit,   "percentUsed",
                                                      "fromUsec", "toUsec",  kUsedUp, "problem"};
  return csv_lines(budgets, kNames);
}

}  // namespace keplerd::cli::history
