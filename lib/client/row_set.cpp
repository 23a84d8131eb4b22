// SPDX-License-Identifier: Apache-2.0
#include "client/row_set.h"

#include <algorithm>
#include <array>

namespace keplerd::client {
namespace {

using varlink::Json;

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
    // An unknown number sorts last.
    std::stable_sort(rows.begin(), rows.end(), [&](const Json& a, const Json& b) {
      return integer_field(a, numeric.field) > integer_field(b, numeric.field);
    });
  }
}

bool RowSet::apply(const Json& tick) {
  return read_changes(
      tick, [this](const std::string& id) { rows_.erase(id); },
      [this](std::string id, const Json& row) { rows_.insert_or_assign(std::move(id), row); });
}

}  // namespace keplerd::client
