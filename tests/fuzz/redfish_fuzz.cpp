// SPDX-License-Identifier: Apache-2.0
// A Redfish service that answers everything with documents of its choice: texts separated by NULs, in the
// order in which they are requested, again and again. Whatever they are, the search ends, requests only
// documents of the service, and power is an amount that can be added up.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "base/parse.h"
#include "meters/redfish/discovery.h"
#include "meters/redfish/settings.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace keplerd;
  using namespace keplerd::redfish;
  std::string_view rest(reinterpret_cast<const char*>(data), size);
  if (const auto settings = parse_settings(rest); settings && settings->host.empty()) std::abort();
  std::vector<std::string_view> texts;
  while (!rest.empty()) texts.push_back(take_until(rest, '\0'));
  if (texts.empty()) return 0;
  std::size_t requests = 0;
  const Fetch fetch = [&](const std::string& path) -> Result<std::string> {
    if (!is_document_path(path)) std::abort();
    return std::string(texts[requests++ % texts.size()]);
  };
  const auto found = find_chassis(fetch, {});
  if (requests > 500) std::abort();
  if (!found) return 0;
  for (const PoweredChassis& chassis : *found) {
    const auto power = read_power(fetch, chassis.source);
    constexpr std::int64_t kMost = 64 * 1'000'000'000'000'000;
    if (power && *power && ((*power)->value < 0 || (*power)->value > kMost)) std::abort();
  }
  return 0;
}
