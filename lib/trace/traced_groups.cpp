// SPDX-License-Identifier: Apache-2.0
#include "trace/traced_groups.h"

#include <algorithm>
#include <utility>

#include "base/cpu_list.h"
#include "base/text.h"
#include "usage/cpu_classes.h"

namespace keplerd {
namespace {

using Kind = TraceValue::Kind;

constexpr std::size_t kMostGroups = 100'000;
constexpr std::size_t kLongestPath = 16'384;
constexpr std::ptrdiff_t kDeepest = 128;
constexpr std::int64_t kMostUsage = std::int64_t{1} << 52;  // us: 142 years

bool is_path(std::string_view path) {
  return path.size() > 1 && path.size() <= kLongestPath && path.front() == '/' && path.back() != '/' &&
         path.find("//") == path.npos && std::ranges::count(path, '/') <= kDeepest && is_plain_name(path);
}

// Parents before children, and children by name.
bool comes_before(std::string_view a, std::string_view b) {
  const auto place = [](char c) { return c == '/' ? 0 : 1 + static_cast<unsigned char>(c); };
  return std::ranges::lexicographical_compare(a, b, {}, place, place);
}

Error bad(std::string_view what, std::string_view name) {
  return Error{std::string(what) + " '" + escape_name(name) + "'"};
}

// What is missing or null is not limited.
std::optional<GroupLimits> parse_limits(const TraceValue& value) {
  constexpr std::int64_t kMostTime = 8192 * std::int64_t{1'000'000};  // us in a second
  constexpr std::int64_t kMostMemory = std::int64_t{1} << 62;
  constexpr std::int64_t kMostVcpus = 65'536;
  if (!value.is(Kind::kObject)) return std::nullopt;
  GroupLimits limits;
  bool is_valid = true;
  const auto take = [&](const char* key, std::int64_t most, auto&& set) {
    const TraceValue* const limit = value.find(key);
    if (limit == nullptr) return;
    if (limit->is(Kind::kInteger) && limit->integer >= 0 && limit->integer <= most) {
      set(limit->integer);
    } else {
      is_valid = false;
    }
  };
  take("cpuMax", kMostTime, [&](std::int64_t us) { limits.cpu_time = std::chrono::microseconds(us); });
  take("memoryMax", kMostMemory, [&](std::int64_t bytes) { limits.memory = bytes; });
  take("vcpus", kMostVcpus, [&](std::int64_t number) { limits.vcpus = static_cast<int>(number); });
  return is_valid ? std::optional(limits) : std::nullopt;
}

}  // namespace

std::optional<Nanoseconds> traced_time(const TraceValue& value, std::int64_t least) {
  if (!value.is(Kind::kInteger) || value.integer < least || value.integer > kMostUsage) return std::nullopt;
  return std::chrono::microseconds(value.integer);
}

void TracedGroups::clear() {
  groups_.clear();
  order_.clear();
}

TracedGroups::Group* TracedGroups::find(std::string_view path) {
  const auto group = groups_.find(std::string(path));
  return group == groups_.end() ? nullptr : group->second.get();
}

Result<Done> TracedGroups::apply(const TraceValue& sample, bool is_first) {
  for (Group* group : order_) group->before = group->usage;
  const std::size_t count = order_.size();
  if (const TraceValue* ended = sample.find("ended")) {
    if (const auto done = end(*ended); !done) return done;
  }
  const TraceValue* const groups = sample.find("groups");
  if (groups == nullptr || !groups->is(Kind::kObject)) return Error{"no 'groups'"};
  const auto added = move(*groups, is_first);
  if (!added) return added.error();
  if (!added->empty()) {
    if (const auto placed = place(*added, sample.find("places")); !placed) return placed;
  }
  if (!added->empty() || order_.size() != count) {
    if (const auto found = find_parents(); !found) return found;
  }
  if (const auto noted = note(sample, is_first); !noted) return noted;
  return add_up();
}

Result<Done> TracedGroups::end(const TraceValue& paths) {
  if (!paths.is(Kind::kList)) return Error{"'ended' is not a list"};
  for (const TraceValue& path : paths.items) {
    if (!path.is(Kind::kText)) return Error{"'ended' lists something else than paths"};
    if (Group* const group = find(path.text)) group->index = kNoGroup;
  }
  std::erase_if(order_, [](const Group* group) { return group->index == kNoGroup; });
  std::erase_if(groups_, [](const auto& entry) { return entry.second->index == kNoGroup; });
  return Done{};
}

// Returns the new ones.
Result<TracedGroups::Order> TracedGroups::move(const TraceValue& groups, bool is_first) {
  Order added;
  for (std::size_t i = 0; i < groups.items.size(); ++i) {
    const auto usage = traced_time(groups.items[i]);
    if (!usage) return bad("no CPU time in range for", groups.keys[i]);
    Group* group = find(groups.keys[i]);
    if (group == nullptr) {
      if (!is_path(groups.keys[i])) return bad("not the path of a cgroup:", groups.keys[i].substr(0, 100));
      if (groups_.size() == kMostGroups) return Error{"too many cgroups"};
      auto made = std::make_unique<Group>(Group{.path = groups.keys[i], .incarnation = ++last_incarnation_});
      if (!is_first) made->before = Nanoseconds{0};
      added.push_back(group = made.get());
      groups_.emplace(groups.keys[i], std::move(made));
    }
    group->usage = *usage;
  }
  return added;
}

// Puts new groups where they were among all; without `places`, all are put in the order of their names.
Result<Done> TracedGroups::place(const Order& added, const TraceValue* places) {
  if (places == nullptr) {
    order_.insert(order_.end(), added.begin(), added.end());
    std::ranges::sort(order_, comes_before,
                      [](const Group* group) -> std::string_view { return group->path; });
    return Done{};
  }
  if (!places->is(Kind::kList) || places->items.size() != added.size())
    return Error{"'places' does not fit the new cgroups"};
  Order order;
  order.reserve(order_.size() + added.size());
  auto old = order_.begin();
  for (std::size_t i = 0; i < added.size(); ++i) {
    const TraceValue& place = places->items[i];
    const auto free = static_cast<std::int64_t>(order.size());
    if (!place.is(Kind::kInteger) || place.integer < free || place.integer - free > order_.end() - old)
      return Error{"'places' does not fit the cgroups"};
    const auto next = old + (place.integer - free);
    order.insert(order.end(), old, next);
    order.push_back(added[i]);
    old = next;
  }
  order.insert(order.end(), old, order_.end());
  order_ = std::move(order);
  return Done{};
}

// The nearest one above that is known.
Result<Done> TracedGroups::find_parents() {
  for (Group* group : order_) group->index = kNoGroup;
  for (std::size_t i = 0; i < order_.size(); ++i) {
    Group& group = *order_[i];
    group.parent = kNoGroup;
    std::string above = group.path;
    while (group.parent == kNoGroup) {
      above.resize(above.rfind('/'));
      if (above.empty()) break;
      const Group* const parent = find(above);
      if (parent == nullptr) continue;
      if (parent->index == kNoGroup) return bad("a cgroup is placed before its parent:", group.path);
      group.parent = parent->index;
    }
    group.index = i;
  }
  return Done{};
}

// What else is said of groups. What is said of unknown ones means nothing.
Result<Done> TracedGroups::note(const TraceValue& sample, bool is_first) {
  const auto each = [&](const char* key, auto&& take) -> Result<Done> {
    const TraceValue* const list = sample.find(key);
    if (list == nullptr) return Done{};
    if (!list->is(Kind::kObject)) return Error{std::string("'") + key + "' is not an object"};
    for (std::size_t i = 0; i < list->items.size(); ++i) {
      Group* const group = find(list->keys[i]);
      if (group != nullptr && !take(*group, list->items[i]))
        return bad(std::string("'") + key + "' is malformed for", list->keys[i]);
    }
    return Done{};
  };
  const auto owners = each("owners", [](Group& group, const TraceValue& owner) {
    if (!owner.is(Kind::kInteger) || !std::in_range<std::uint32_t>(owner.integer)) return false;
    group.owner = static_cast<std::uint32_t>(owner.integer);
    return true;
  });
  if (!owners) return owners;
  const auto before = each("before", [&](Group& group, const TraceValue& time) {
    const auto earlier = traced_time(time, -kMostUsage);
    if (earlier && !is_first) group.before = *earlier;
    return earlier.has_value();
  });
  if (!before) return before;
  const auto limits = each("limits", [](Group& group, const TraceValue& value) {
    const auto parsed = parse_limits(value);
    if (parsed) group.limits = *parsed;
    return parsed.has_value();
  });
  if (!limits) return limits;
  return each("cpusAllowed", [](Group& group, const TraceValue& list) {
    auto cpus = list.is(Kind::kText) ? parse_cpu_list(list.text) : std::nullopt;
    if (!cpus) return false;
    group.cpus = *std::move(cpus);
    return true;
  });
}

Result<Done> TracedGroups::add_up() {
  time_ = 0;
  for (const Group* group : order_) {
    const auto time = to_usec(group->usage - group->before.value_or(group->usage));
    time_ += time < 0 ? -time : time;
    if (time_ > kMostTracedTime) return Error{"more CPU time than any host has"};
  }
  return Done{};
}

void TracedGroups::fill(UsageSample& usage) const {
  usage.groups.clear();
  usage.limits.clear();
  for (const Group* group : order_) {
    usage.limits.push_back(group->limits);
    usage.groups.push_back({.incarnation = group->incarnation,
                            .parent = group->parent,
                            .path = group->path,
                            .parent_owner = group->owner,
                            .usage = group->usage,
                            .before = group->before});
  }
  usage.cpu_classes.clear();
  if (!usage.cpus.empty()) assign_cpu_classes([this](std::size_t i) { return &order_[i]->cpus; }, usage);
}

}  // namespace keplerd
