// SPDX-License-Identifier: Apache-2.0
#include "trace/traced_counts.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <set>
#include <unordered_map>
#include <vector>

#include <fmt/format.h>

namespace keplerd {
namespace {

using Kind = TraceValue::Kind;

constexpr std::size_t kMostDies = 64;
constexpr std::int64_t kMostInWindow = std::int64_t{1} << 60;

struct Names {
  CountKind kind;
  std::string_view list, all;  // of the list, and of the count of all in each of its objects
};
constexpr std::array<Names, kCountKinds.size()> kNames = {{
    {CountKind::kMemoryTraffic, "memories", "bytes"},
    {CountKind::kCoreEnergy, "coreEnergy", "microjoules"},
    {CountKind::kCycles, "cycles", "cycles"},
    {CountKind::kInstructions, "instructions", "instructions"},
    {CountKind::kCacheMisses, "cacheMisses", "misses"},
}};

std::optional<std::int64_t> number_in(const TraceValue* value, std::int64_t most) {
  if (value == nullptr || !value->is(Kind::kInteger) || value->integer < 0 || value->integer > most)
    return std::nullopt;
  return value->integer;
}

using Groups = std::unordered_map<std::string_view, std::size_t>;

bool take_groups(const TraceValue* groups, const Groups& known, GroupCounts& counts) {
  if (groups == nullptr || !groups->is(Kind::kObject)) return false;
  std::int64_t left = counts.all.value;
  for (std::size_t i = 0; i < groups->items.size(); ++i) {
    const auto group = known.find(groups->keys[i]);
    const auto count = number_in(&groups->items[i], left);
    if (group == known.end() || !count) return false;
    left -= *count;
    counts.groups.push_back({.group = group->second, .count = {*count}});
  }
  return true;
}

std::optional<GroupCounts> take_one(const TraceValue& value, const Names& names, const Groups& known) {
  if (!value.is(Kind::kObject)) return std::nullopt;
  const auto die = number_in(value.find("die"), std::numeric_limits<int>::max());
  const auto all = number_in(value.find(names.all), kMostInWindow);
  if (!die || !all) return std::nullopt;
  GroupCounts counts{.source = {names.kind, static_cast<int>(*die)}, .all = {*all}, .groups = {}};
  if (!take_groups(value.find("groups"), known, counts)) return std::nullopt;
  return counts;
}

bool take_list(const TraceValue& list, const Names& names, const Groups& known,
               std::vector<GroupCounts>& counts) {
  if (!list.is(Kind::kList) || list.items.size() > kMostDies) return false;
  std::set<int> dies;
  for (const TraceValue& value : list.items) {
    auto one = take_one(value, names, known);
    if (!one || !dies.insert(one->source.die).second) return false;
    counts.push_back(*std::move(one));
  }
  return true;
}

}  // namespace

std::string traced_counts(const UsageSample& usage,
                          const std::function<std::string(std::string_view path)>& quoted) {
  std::string members;
  for (const Names& names : kNames) {
    std::string list;
    for (const GroupCounts& counts : usage.counts) {
      if (counts.source.kind != names.kind) continue;
      std::string groups;
      for (const auto& [group, count] : counts.groups)
        append_item(groups, fmt::format("{}:{}", quoted(usage.groups[group].path), count.value));
      append_item(list, fmt::format(R"({{"die":{},"{}":{},"groups":{{{}}}}})", counts.source.die, names.all,
                                    counts.all.value, groups));
    }
    if (!list.empty()) append_item(members, fmt::format(R"("{}":[{}])", names.list, list));
  }
  return members;
}

Result<Done> take_counts(const TraceValue& sample, UsageSample& usage) {
  usage.counts.clear();
  Groups known;
  for (const Names& names : kNames) {
    const TraceValue* const list = sample.find(names.list);
    if (list == nullptr) continue;
    if (known.empty())
      for (std::size_t i = 0; i < usage.groups.size(); ++i) known[usage.groups[i].path] = i;
    if (!take_list(*list, names, known, usage.counts))
      return Error{fmt::format("'{}' is malformed or out of range", names.list)};
  }
  return Done{};
}

}  // namespace keplerd
