// SPDX-License-Identifier: Apache-2.0
#include "meters/resctrl/own_traffic.h"

#include <algorithm>

namespace keplerd::resctrl {
namespace {

// No memory behind one cache moves more in a second.
constexpr std::int64_t kMostPerSecond = std::int64_t{1} << 42;
// Milliseconds between two readings, of which more is not permitted to move.
constexpr std::int64_t kLongest = 600'000;

using Key = std::pair<std::uint64_t, int>;

// Modulo 2^64: whatever the counters read, differences of sums are right.
Bytes plus(Bytes a, Bytes b) {
  return {
      static_cast<std::int64_t>(static_cast<std::uint64_t>(a.value) + static_cast<std::uint64_t>(b.value))};
}
Bytes minus(Bytes a, Bytes b) {
  return {
      static_cast<std::int64_t>(static_cast<std::uint64_t>(a.value) - static_cast<std::uint64_t>(b.value))};
}

void add_forward(Bytes before, Bytes now, Bytes& sum) {
  constexpr Bytes kMost{std::int64_t{1} << 61};
  sum = std::min(sum + std::clamp(now - before, Bytes{}, kMost), kMost);
}

// How much all groups inside each have moved, by the outer one.
std::map<Key, Traffic> moved_inside(const std::vector<Group>& groups, const std::map<Key, Traffic>& before,
                                    const std::map<Key, Traffic>& now) {
  std::map<Key, Traffic> moved;
  for (const Group& group : groups) {
    if (group.parent == 0) continue;
    for (const auto& [cache, traffic] : group.caches) {
      const auto a = before.find({group.id, cache}), b = now.find({group.id, cache});
      if (a == before.end() || b == now.end()) continue;
      Traffic& sum = moved[{group.parent, cache}];
      add_forward(a->second.all, b->second.all, sum.all);
      add_forward(a->second.local, b->second.local, sum.local);
    }
  }
  return moved;
}

// The step of a value that should not go back. Values are read one after another, so that a group with busy
// ones inside may seem to have gone back, by less than those have moved: it has not moved, and goes on from
// there.
Bytes step_of(Bytes before, Bytes inside, Bytes& now) {
  const Bytes step = minus(now, before);
  if (step >= Bytes{} || inside + step < Bytes{}) return step;
  now = before;
  return {};
}

}  // namespace

OwnTraffic::Values OwnTraffic::values_of(const std::vector<Group>& groups) {
  Values values;
  for (const Group& group : groups) {
    for (const auto& [cache, traffic] : group.caches) {
      if (!traffic) {
        if (values.problem.empty()) values.problem = traffic.error().message;
        continue;
      }
      values.read[{group.id, cache}] = *traffic;
      Traffic& own = values.own[{group.id, cache}];
      own = {plus(own.all, traffic->all), plus(own.local, traffic->local)};
      if (group.parent == 0) continue;
      Traffic& outer = values.own[{group.parent, cache}];
      outer = {minus(outer.all, traffic->all), minus(outer.local, traffic->local)};
    }
  }
  return values;
}

Result<OwnTraffic::Steps> OwnTraffic::take(const std::vector<Group>& groups, Nanoseconds since_last) {
  Values now = values_of(groups);
  const bool was_known = has_last_ && last_.problem.empty();
  const bool was_doubtful = is_doubtful_;
  const bool are_comparable = was_known && now.problem.empty();
  is_doubtful_ = !are_comparable;
  const auto inside = moved_inside(groups, last_.read, now.read);
  const Bytes most{std::clamp<std::int64_t>(since_last / std::chrono::milliseconds(1), 1, kLongest) *
                   (kMostPerSecond / 1000)};
  Steps steps;
  for (auto& [key, own] : now.own) {
    Traffic& step = steps[key];
    const auto before = last_.own.find(key);
    if (!are_comparable || before == last_.own.end()) continue;
    const auto moved = inside.find(key);
    const Traffic in = moved == inside.end() ? Traffic{} : moved->second;
    step = {step_of(before->second.all, in.all, own.all), step_of(before->second.local, in.local, own.local)};
    for (const Bytes bytes : {step.all, step.local})
      is_doubtful_ = is_doubtful_ || bytes < Bytes{} || bytes > most;
    step.local = std::min(step.local, step.all);
  }
  last_ = std::move(now);
  has_last_ = true;
  if (!last_.problem.empty()) return Error{.message = last_.problem};
  if (!are_comparable || was_doubtful || is_doubtful_)
    return Error{.message = "counting has begun, or a counter has been reset"};
  return steps;
}

}  // namespace keplerd::resctrl
