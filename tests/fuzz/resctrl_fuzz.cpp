// SPDX-License-Identifier: Apache-2.0
// Counters of resctrl and lists of threads, which the kernel writes; then what becomes of several values of a
// group inside another one.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string_view>
#include <vector>

#include "base/parse.h"
#include "fuzz/shown_text.h"
#include "meters/counts/accounts.h"
#include "meters/resctrl/counter_value.h"
#include "meters/resctrl/own_counts.h"
#include "meters/resctrl/threads.h"
#include "usage/count_file.h"
#include "usage/window_counter.h"

namespace {

using namespace keplerd;

resctrl::Group group(std::uint64_t id, std::uint64_t parent, std::string_view text) {
  resctrl::Group group{.id = id, .parent = parent, .path = ""};
  const auto value = resctrl::parse_bytes(text);
  if (value) {
    if (*value < Count{}) std::abort();
    group.caches.emplace(0, resctrl::Amount{*value, *value});
  } else {
    check_shown(value.error().message);
    group.caches.emplace(0, value.error());
  }
  return group;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string_view rest(reinterpret_cast<const char*>(data), size);
  const auto threads = resctrl::parse_threads(rest);
  if (!std::ranges::is_sorted(threads) || (!threads.empty() && threads.front() <= 0)) std::abort();
  resctrl::OwnCounts own(resctrl::kCounted[0]);
  meters::Accounts accounts(CountKind::kMemoryTraffic);
  WindowCounter counter;
  Nanoseconds now{0};
  while (!rest.empty()) {
    static_cast<void>(resctrl::parse_cache(rest));
    static_cast<void>(resctrl::parse_package(rest));
    if (const auto energy = resctrl::parse_joules(rest); energy && *energy < Count{}) std::abort();
    const std::vector<resctrl::Group> groups = {group(1, 0, take_until(rest, '\0')),
                                                group(2, 1, take_until(rest, '\0'))};
    now += std::chrono::seconds(1);
    const auto steps = own.take(groups, std::chrono::seconds(1));
    if (steps)
      for (const auto& [key, step] : *steps)
        if (step.all < Count{} || step.local < Count{} || step.local > step.all) std::abort();
    accounts.take(now, steps, {{2, 70}}, {{0, 0}});
    const auto reading = parse_count_file(accounts.texts("").at("memory-0"));
    if (!reading || reading->groups.at(70).count > reading->all) std::abort();
    counter.take(*reading);
    if (const auto window = counter.advance(now))
      for (const auto& [cgroup, count] : window->groups)
        if (count < Count{} || count > window->all) std::abort();
  }
  return 0;
}
