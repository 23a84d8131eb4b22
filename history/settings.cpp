// SPDX-License-Identifier: Apache-2.0
#include "history/settings.h"

#include <algorithm>
#include <iterator>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "base/text.h"
#include "config/ini.h"
#include "config/key_table.h"
#include "config/time_span.h"

namespace keplerd::history {
namespace {

// Each costs a query of the database every five minutes.
constexpr std::size_t kMostBudgets = 100;

template <auto kSpan>
Result<Done> set_span(Settings& settings, std::string_view text) {
  const auto span = parse_time_span(text);
  if (!span || *span < std::chrono::hours(1)) return Error{"must be a time of at least an hour, like 400d"};
  settings.*kSpan = *span;
  return Done{};
}

Result<Done> set_min_energy(Settings& settings, std::string_view text) {
  const auto energy = parse_energy(text);
  if (!energy) return Error{"must be an energy, like 1J"};
  settings.min_energy = *energy;
  return Done{};
}

Result<Done> set_project(Settings& settings, std::string_view text) {
  settings.project.reset();
  if (text.empty()) return Done{};
  auto pattern = ProjectPattern::parse(text);
  if (!pattern) return pattern.error();
  settings.project = *std::move(pattern);
  return Done{};
}

// Adds one; an empty value removes those before it, as systemd's lists do.
Result<Done> add_budget(Settings& settings, std::string_view text) {
  if (text.empty()) {
    settings.budgets.clear();
    return Done{};
  }
  auto budget = parse_budget(text);
  if (!budget) return budget.error();
  if (settings.budgets.size() == kMostBudgets)
    return Error{fmt::format("more than {} budgets", kMostBudgets)};
  const auto same = [&](const Budget& one) { return one.text == budget->text; };
  if (std::ranges::none_of(settings.budgets, same)) settings.budgets.push_back(*std::move(budget));
  return Done{};
}

struct Row {
  std::string_view section, key;
  Result<Done> (*set)(Settings& settings, std::string_view text);
};

constexpr Row kRows[] = {{"History", "MinEnergy", set_min_energy},
                         {"History", "Project", set_project},
                         {"Retention", "FiveMinutes", set_span<&Settings::five_minutes>},
                         {"Retention", "Hours", set_span<&Settings::hours>},
                         {"Retention", "Days", set_span<&Settings::days>},
                         {"Retention", "Months", set_span<&Settings::months>},
                         {"Budgets", "Budget", add_budget}};

Result<Done> check_section(std::string_view section) { return check_section_of(kRows, section); }

ApplyFile apply_to(Settings& settings) {
  return [&settings](std::string_view text, const std::string& path) {
    const auto set = [&settings](std::string_view section, std::string_view key, std::string_view value,
                                 int) -> Result<Done> {
      const auto row = find_key(kRows, section, key);
      if (row == std::end(kRows)) return unknown_key_of(kRows, section, key);
      const auto done = row->set(settings, value);
      if (!done) return Error{fmt::format("{}={}: {}", key, escape_name(value), done.error().message)};
      return done;
    };
    return parse_ini(text, path, {check_section, set});
  };
}

}  // namespace

Result<Settings> load_settings(const std::vector<std::string>& directories) {
  Settings settings;
  const auto applied = apply_config_files(directories, "history.conf", apply_to(settings));
  if (!applied) return applied.error();
  return settings;
}

Result<Settings> load_settings_file(const std::string& path) {
  Settings settings;
  const auto applied = apply_config_file(path, apply_to(settings));
  if (!applied) return applied.error();
  return settings;
}

}  // namespace keplerd::history
