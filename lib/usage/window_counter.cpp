// SPDX-License-Identifier: Apache-2.0
#include "usage/window_counter.h"

#include <algorithm>
#include <utility>

namespace keplerd {
namespace {

constexpr Count kMostInWindow{std::int64_t{1} << 50};  // sums over all groups fit; more is no count

using Counts = WindowCounter::Counts;

// Nothing if the readings are not of one count.
std::optional<Counts> between(const CountReading& before, const CountReading& now) {
  const Count all = now.all - before.all;
  if (now.since != before.since || all < Count{} || all > kMostInWindow) return std::nullopt;
  Counts counts{.all = all, .groups = {}};
  for (const auto& [group, counted] : now.groups) {
    const auto known = before.groups.find(group);
    if (known == before.groups.end() || known->second.since != counted.since) continue;
    const Count step = counted.count - known->second.count;
    if (step >= Count{} && step <= kMostInWindow) counts.groups.emplace(group, step);
  }
  return counts;
}

void add(const Counts& more, Counts& sum) {
  sum.all = std::min(sum.all + more.all, kMostInWindow);
  std::erase_if(sum.groups, [&](const auto& entry) { return !more.groups.contains(entry.first); });
  for (auto& [group, count] : sum.groups) count = std::min(count + more.groups.at(group), kMostInWindow);
}

Counts with_sum(Counts counts) {
  Count groups;
  for (const auto& [group, count] : counts.groups) groups += count;
  counts.all = std::max(counts.all, groups);
  return counts;
}

}  // namespace

void WindowCounter::take(const CountReading& reading) {
  const ReadingTimes::Order order = times_.take(reading.time);
  if (order == ReadingTimes::Order::kNotLater) return;
  auto step = order == ReadingTimes::Order::kNext ? between(*last_, reading) : std::nullopt;
  last_ = reading;
  if (!step) {
    times_.begin_anew();
    since_.reset();
    return;
  }
  latest_ = *std::move(step);
  if (since_) {
    add(latest_, *since_);
  } else {
    since_ = latest_;
  }
}

std::optional<Counts> WindowCounter::advance(Nanoseconds now) {
  auto since = std::exchange(since_, std::nullopt);
  const ReadingTimes::Basis basis = times_.advance(now);
  if (basis == ReadingTimes::Basis::kUnknown) return std::nullopt;
  return with_sum(basis == ReadingTimes::Basis::kReadings && since ? *std::move(since) : latest_);
}

}  // namespace keplerd
