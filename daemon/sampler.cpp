// SPDX-License-Identifier: Apache-2.0
#include "daemon/sampler.h"

#include <algorithm>
#include <utility>

namespace keplerd {

Sampler::Sampler(Host host, const SamplingSettings& settings) : host_(std::move(host)), settings_(settings) {
  pace_.set(settings_);
}

void Sampler::start() {
  take();
  pace_.ask(tried_);  // a client that starts keplerd will soon call
  choose_period();
  due_.at = host_.now() + period_;
}

// At the planned time plus the period, so that delays do not add up; after a long stall, from now on.
void Sampler::on_time() {
  const Nanoseconds planned = due_.at;
  due_.at = host_.now() + period_;  // should it throw
  take_within_budget();
  choose_period();
  const Nanoseconds now = host_.now();
  due_.at = planned + period_ > now ? planned + period_ : now + period_;
  align();
  await_budget();
}

void Sampler::refresh(bool lacks) {
  const Nanoseconds now = host_.now();
  pace_.ask(now);
  if (period_ <= settings_.interval && !lacks) return;
  const bool on_demand = settings_.interval == Nanoseconds{0};
  const bool is_stale = now - reported_ >= (on_demand ? settings_.staleness : settings_.interval);
  if ((is_stale || lacks) && budget_.wait(now) == Nanoseconds{0}) take_within_budget();
  replan();
}

void Sampler::hurry() {
  const Nanoseconds now = host_.now();
  pace_.ask(now);
  due_.at = std::min(due_.at, std::max(now, tried_ + kShortestInterval));
  due_.may_be_late = false;
  await_budget();
}

std::shared_ptr<const Listener> Sampler::listen(Listener listener) {
  auto held = pace_.listen(listener);
  const Nanoseconds before = period_;
  choose_period();
  if (period_ < before) replan();
  align();
  return held;
}

void Sampler::set(const SamplingSettings& settings) {
  settings_ = settings;
  pace_.set(settings_);
  replan();
}

bool Sampler::is_stalled() const {
  const Nanoseconds since = host_.now() - std::max(tried_, ended_);
  return since > 2 * period_ + SampleBudget::kLongestWait + std::chrono::seconds(5);
}

Sampler::Sampled Sampler::take() {
  tried_ = host_.now();
  const Sampled sampled = host_.sample();
  reported_ = sampled.reported;
  return sampled;
}

void Sampler::take_within_budget() {
  report_budget(host_.now());  // checked first: the budget is fullest right before a sample
  const Nanoseconds cost = take().cost;
  ended_ = host_.now();
  budget_.spend(ended_, cost);
  report_budget(ended_);
}

void Sampler::report_budget(Nanoseconds now) {
  if (const auto exceeded = budget_.notice(now)) host_.budget_changed(*exceeded);
}

void Sampler::choose_period() {
  period_ = pace_.period(host_.now(), host_.may_read_seldom());
  due_.may_be_late = settings_.interval > Nanoseconds{0} && period_ > settings_.interval;
}

// The next sample is due one period after the last, that is immediately if that was long ago.
void Sampler::replan() {
  choose_period();
  due_.at = tried_ + period_;
  align();
  await_budget();
}

// A sample just before the aligned one is taken with it: power over the time between them would be noise.
void Sampler::align() {
  const auto left = pace_.until_aligned(host_.realtime());
  if (!left || host_.now() + *left > due_.at + std::min(2 * kShortestPowerSpan, period_ / 2)) return;
  due_.at = host_.now() + *left;
  due_.may_be_late = false;
}

void Sampler::await_budget() {
  const Nanoseconds now = host_.now();
  due_.at = std::max(due_.at, now + budget_.wait(now));
}

}  // namespace keplerd
