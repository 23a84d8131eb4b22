// SPDX-License-Identifier: Apache-2.0
#include "cost/load.h"

#include <utility>

namespace keplerd {
namespace {

ApplyFile apply_to(RatesText& rates) {
  return [&rates](std::string_view text, const std::string& path) -> Result<Done> {
    auto parsed = parse_rates(text, path, rates);
    if (!parsed) return parsed.error();
    rates = *std::move(parsed);
    return Done{};
  };
}

}  // namespace

Result<Rates> load_rates(const std::vector<std::string>& directories) {
  RatesText rates;
  const auto applied = apply_config_files(directories, "cost.conf", apply_to(rates));
  return applied ? finish_rates(rates) : applied.error();
}

Result<Rates> load_rates_file(const std::string& path) {
  if (path.empty()) return load_rates();
  RatesText rates;
  const auto applied = apply_config_file(path, apply_to(rates));
  return applied ? finish_rates(rates) : applied.error();
}

}  // namespace keplerd
