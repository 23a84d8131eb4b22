// SPDX-License-Identifier: Apache-2.0
#include "trace/traced_traffic.h"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <set>
#include <unordered_map>

#include <fmt/format.h>

namespace keplerd {
namespace {

using Kind = TraceValue::Kind;

constexpr std::size_t kMostMemories = 64;
constexpr std::int64_t kMostBytes = std::int64_t{1} << 60;

Error bad_memories() { return Error{"'memories' is malformed or out of range"}; }

void append(std::string& list, const std::string& item) { list += (list.empty() ? "" : ",") + item; }

std::optional<std::int64_t> number_in(const TraceValue* value, std::int64_t most) {
  if (value == nullptr || !value->is(Kind::kInteger) || value->integer < 0 || value->integer > most)
    return std::nullopt;
  return value->integer;
}

using Groups = std::unordered_map<std::string_view, std::size_t>;

bool take_groups(const TraceValue* groups, const Groups& known, MemoryTraffic& memory) {
  if (groups == nullptr || !groups->is(Kind::kObject)) return false;
  std::int64_t left = memory.bytes.value;
  for (std::size_t i = 0; i < groups->items.size(); ++i) {
    const auto group = known.find(groups->keys[i]);
    const auto bytes = number_in(&groups->items[i], left);
    if (group == known.end() || !bytes) return false;
    left -= *bytes;
    memory.groups.push_back({.group = group->second, .bytes = {*bytes}});
  }
  return true;
}

std::optional<MemoryTraffic> take_memory(const TraceValue& value, const Groups& known) {
  if (!value.is(Kind::kObject)) return std::nullopt;
  const auto die = number_in(value.find("die"), std::numeric_limits<int>::max());
  const auto bytes = number_in(value.find("bytes"), kMostBytes);
  if (!die || !bytes) return std::nullopt;
  MemoryTraffic memory{.die = static_cast<int>(*die), .bytes = {*bytes}, .groups = {}};
  if (!take_groups(value.find("groups"), known, memory)) return std::nullopt;
  return memory;
}

}  // namespace

std::string traced_traffic(const UsageSample& usage,
                           const std::function<std::string(std::string_view path)>& quoted) {
  std::string list;
  for (const MemoryTraffic& memory : usage.memory_traffic) {
    std::string groups;
    for (const auto& [group, bytes] : memory.groups)
      append(groups, fmt::format("{}:{}", quoted(usage.groups[group].path), bytes.value));
    append(list,
           fmt::format(R"({{"die":{},"bytes":{},"groups":{{{}}}}})", memory.die, memory.bytes.value, groups));
  }
  return list;
}

Result<Done> take_traffic(const TraceValue& sample, UsageSample& usage) {
  usage.memory_traffic.clear();
  const TraceValue* const memories = sample.find("memories");
  if (memories == nullptr) return Done{};
  if (!memories->is(Kind::kList) || memories->items.size() > kMostMemories) return bad_memories();
  Groups known;
  for (std::size_t i = 0; i < usage.groups.size(); ++i) known[usage.groups[i].path] = i;
  std::set<int> dies;
  for (const TraceValue& value : memories->items) {
    auto memory = take_memory(value, known);
    if (!memory || !dies.insert(memory->die).second) return bad_memories();
    usage.memory_traffic.push_back(*std::move(memory));
  }
  return Done{};
}

}  // namespace keplerd
