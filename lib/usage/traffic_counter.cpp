// SPDX-License-Identifier: Apache-2.0
#include "usage/traffic_counter.h"

#include <algorithm>
#include <utility>

namespace keplerd {
namespace {

constexpr Bytes kMostInWindow{std::int64_t{1} << 50};  // sums over all groups fit; more is no traffic

using Traffic = TrafficCounter::Traffic;

// Nothing if the readings are not of one count.
std::optional<Traffic> between(const TrafficReading& before, const TrafficReading& now) {
  const Bytes all = now.all - before.all;
  if (now.since != before.since || all < Bytes{} || all > kMostInWindow) return std::nullopt;
  Traffic traffic{.all = all, .groups = {}};
  for (const auto& [group, counted] : now.groups) {
    const auto known = before.groups.find(group);
    if (known == before.groups.end() || known->second.since != counted.since) continue;
    const Bytes step = counted.bytes - known->second.bytes;
    if (step >= Bytes{} && step <= kMostInWindow) traffic.groups.emplace(group, step);
  }
  return traffic;
}

void add(const Traffic& more, Traffic& sum) {
  sum.all = std::min(sum.all + more.all, kMostInWindow);
  std::erase_if(sum.groups, [&](const auto& entry) { return !more.groups.contains(entry.first); });
  for (auto& [group, bytes] : sum.groups) bytes = std::min(bytes + more.groups.at(group), kMostInWindow);
}

Traffic with_sum(Traffic traffic) {
  Bytes groups;
  for (const auto& [group, bytes] : traffic.groups) groups += bytes;
  traffic.all = std::max(traffic.all, groups);
  return traffic;
}

}  // namespace

void TrafficCounter::take(const TrafficReading& reading) {
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

std::optional<Traffic> TrafficCounter::advance(Nanoseconds now) {
  auto since = std::exchange(since_, std::nullopt);
  const ReadingTimes::Basis basis = times_.advance(now);
  if (basis == ReadingTimes::Basis::kUnknown) return std::nullopt;
  return with_sum(basis == ReadingTimes::Basis::kReadings && since ? *std::move(since) : latest_);
}

}  // namespace keplerd
