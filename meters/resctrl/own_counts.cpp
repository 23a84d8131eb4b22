// SPDX-License-Identifier: Apache-2.0
#include "meters/resctrl/own_counts.h"

#include <algorithm>

namespace keplerd::resctrl {
namespace {

// Milliseconds between two readings, of which more is not permitted to move.
constexpr std::int64_t kLongest = 600'000;

using Key = std::pair<std::uint64_t, int>;

// Modulo 2^64: whatever the counters read, differences of sums are right.
Count plus(Count a, Count b) {
  return {
      static_cast<std::int64_t>(static_cast<std::uint64_t>(a.value) + static_cast<std::uint64_t>(b.value))};
}
Count minus(Count a, Count b) {
  return {
      static_cast<std::int64_t>(static_cast<std::uint64_t>(a.value) - static_cast<std::uint64_t>(b.value))};
}

void add_forward(Count before, Count now, Count& sum) {
  constexpr Count kMost{std::int64_t{1} << 61};
  sum = std::min(sum + std::clamp(now - before, Count{}, kMost), kMost);
}

// The step of a value that should not go back. Values are read one after another, so that a group with busy
// ones inside may seem to have gone back, by less than those have moved: it has not moved, and goes on from
// there.
Count step_of(Count before, Count inside, Count& now) {
  const Count step = minus(now, before);
  if (step >= Count{} || inside + step < Count{}) return step;
  now = before;
  return {};
}

}  // namespace

// How much all groups inside each have moved, by the outer one.
OwnCounts::Moved OwnCounts::moved_inside(const std::vector<Group>& groups, const Moved& before,
                                         const Moved& now) const {
  Moved moved;
  for (const Group& group : groups) {
    if (group.parent == 0) continue;
    for (const auto& [id, amount] : group.*counted_.amounts) {
      const auto a = before.find({group.id, id}), b = now.find({group.id, id});
      if (a == before.end() || b == now.end()) continue;
      Amount& sum = moved[{group.parent, id}];
      add_forward(a->second.all, b->second.all, sum.all);
      add_forward(a->second.local, b->second.local, sum.local);
    }
  }
  return moved;
}

OwnCounts::Values OwnCounts::values_of(const std::vector<Group>& groups) const {
  Values values;
  for (const Group& group : groups) {
    for (const auto& [id, amount] : group.*counted_.amounts) {
      if (!amount) {
        if (values.problem.empty()) values.problem = amount.error().message;
        continue;
      }
      values.read[{group.id, id}] = *amount;
      Amount& own = values.own[{group.id, id}];
      own = {plus(own.all, amount->all), plus(own.local, amount->local)};
      if (group.parent == 0) continue;
      Amount& outer = values.own[{group.parent, id}];
      outer = {minus(outer.all, amount->all), minus(outer.local, amount->local)};
    }
  }
  return values;
}

Result<meters::Steps> OwnCounts::take(const std::vector<Group>& groups, Nanoseconds since_last) {
  Values now = values_of(groups);
  const bool was_known = has_last_ && last_.problem.empty();
  const bool was_doubtful = is_doubtful_;
  const bool are_comparable = was_known && now.problem.empty();
  is_doubtful_ = !are_comparable;
  const auto inside = moved_inside(groups, last_.read, now.read);
  const Count most{std::clamp<std::int64_t>(since_last / std::chrono::milliseconds(1), 1, kLongest) *
                   (counted_.most_per_second.value / 1000)};
  meters::Steps steps;
  for (auto& [key, own] : now.own) {
    Amount& step = steps[key];
    const auto before = last_.own.find(key);
    if (!are_comparable || before == last_.own.end()) continue;
    const auto moved = inside.find(key);
    const Amount in = moved == inside.end() ? Amount{} : moved->second;
    step = {step_of(before->second.all, in.all, own.all), step_of(before->second.local, in.local, own.local)};
    for (const Count count : {step.all, step.local})
      is_doubtful_ = is_doubtful_ || count < Count{} || count > most;
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
