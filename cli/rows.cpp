// SPDX-License-Identifier: Apache-2.0
#include "cli/rows.h"

#include <algorithm>
#include <array>

#include "cli/fields.h"

namespace keplerd::cli {
namespace {

struct NumericKey {
  std::string_view name, field;
};
constexpr std::array<NumericKey, 3> kNumericKeys = {
    {{"energy", "energyMicrojoules"}, {"power", "powerMicrowatts"}, {"cpu", "cpuUsec"}}};

}  // namespace

const std::vector<std::string>& sort_keys() {
  static const std::vector<std::string> kKeys = {"energy", "power", "cpu", "name", "id"};
  return kKeys;
}

void sort_rows(std::vector<Json>& rows, std::string_view key) {
  const auto by_text = [](std::string_view name) {
    return [name](const Json& a, const Json& b) { return string_field(a, name) < string_field(b, name); };
  };
  std::sort(rows.begin(), rows.end(), by_text("id"));
  if (key == "name") std::stable_sort(rows.begin(), rows.end(), by_text("name"));
  for (const NumericKey& numeric : kNumericKeys) {
    if (key != numeric.name) continue;
    // An unknown number comes last.
    std::stable_sort(rows.begin(), rows.end(), [&](const Json& a, const Json& b) {
      return integer_field(a, numeric.field) > integer_field(b, numeric.field);
    });
  }
}

void RowSet::apply(const Json& tick) {
  for (const Json& id : field(tick, "removed")) {
    if (id.is_string()) rows_.erase(id.get<std::string>());
  }
  for (const Json& row : field(tick, "rows")) {
    if (const auto id = string_field(row, "id")) rows_[*id] = row;
  }
}

}  // namespace keplerd::cli
