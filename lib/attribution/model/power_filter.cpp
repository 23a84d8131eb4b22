// SPDX-License-Identifier: Apache-2.0
#include "attribution/model/power_filter.h"

#include <algorithm>
#include <cmath>

#include "attribution/model/arithmetic.h"
#include "attribution/model/placement.h"

namespace keplerd {
namespace {

constexpr double kFrequencyExponent = 1.5;  // of a core's power: f V^2, where V rises with f, and leakage
constexpr double kLeastPerCpu = 0.05;       // of K at the start
constexpr double kLeastDynamic = 0.15;      // of K X: corrections take no more away

// How fast the state may change. Young filters change quickly; later, most of the change comes from reopen().
constexpr double kSettled = 3600;         // s
constexpr double kLeastDrift = 0.1;       // of that at the start
constexpr double kLongestMemory = 86400;  // s, of d

constexpr double kSensorWatts = 0.1, kSensorShare = 0.002;  // what a counter may be off by
constexpr double kFirstNoise = 0.03;                        // of the active power
constexpr std::size_t kFirstNoiseWindows = 20;              // that the first value counts for
constexpr double kNoiseSpan = 60;                           // s, in which it is learned
constexpr double kSurprised = 2.5, kMostSurprise = 25;
constexpr double kSurpriseFrom = 120;                    // s
constexpr double kRestoredVariance = 4;                  // times what it was
constexpr double kLoosened = 10;                         // likewise
constexpr double kShareSpan = 3600, kCentreSpan = 7200;  // s
// s in which a surprised filter regains the uncertainty of its start. What is known of the host stays known
// longer: under usual loads, it is the workloads that change.
constexpr double kReopen = 300, kReopenUsual = 10'000;
// What is known of workloads is worse than nothing if the mean square error is so many times what it would be
// if all drew alike. Errors that are small compared with the power of the workloads are mostly false alarms.
constexpr double kWorse = 1.5, kBad = 0.2;
constexpr double kRecentWindows = 5, kForgottenAt = 0.1;  // a workload of this share is forgotten at once

double core_use(const PowerObservation& o) { return o.load - 2 * (1 - kSiblingShare) * o.siblings; }
double upper_load(const PowerObservation& o) { return std::max(0.0, o.load - o.cpus / 2); }
double speed(const PowerObservation& o) { return std::exp(kFrequencyExponent * o.frequency); }

}  // namespace

PowerFilter::PowerFilter(std::size_t slots, double deviation_variance)
    : slots_(slots),
      size_(kFirstSlot + (slots > 1 ? slots : 0)),
      deviation_variance_(deviation_variance),
      state_(size_),
      gradient_(size_),
      gain_(size_),
      covariance_(size_ * size_) {}

void PowerFilter::start(const PowerObservation& first, std::optional<double> idle) {
  const double load = std::min(1.0, first.load / first.cpus);
  // Power rises steeply at first, and more slowly later.
  const double rise = std::sqrt(load) * (0.6 + 0.4 * std::sqrt(load));
  // About what the zone draws at full load, idle and other power together, or without the idle power.
  const double full =
      idle ? std::max(first.watts - *idle, 0.05 * first.watts) / rise : first.watts / (0.2 + 0.8 * rise);
  const double per_cpu = 0.8 * full / (kSiblingShare * first.cpus);
  first_ = {idle.value_or(0.15 * full), 0.08 * full, per_cpu, 0, 0, 0};
  first_variance_ = {square(idle ? 0.05 * *idle : 0.08 * full),
                     square(0.07 * full),
                     square(0.7 * per_cpu),
                     square(0.3 * per_cpu),
                     square(0.5 * per_cpu),
                     square(0.15 * per_cpu)};
  std::ranges::fill(state_, 0);
  std::ranges::fill(covariance_, 0);
  for (std::size_t p = 0; p < kFirstSlot; ++p) {
    state_[p] = first_[p];
    q(p, p) = first_variance_[p];
  }
  for (std::size_t p = kFirstSlot; p < size_; ++p) q(p, p) = deviation_variance_;
  age_ = 0;
  relative_noise_ = square(kFirstNoise);
  forget_errors();
  started_ = true;
}

void PowerFilter::forget_errors() {
  windows_ = failures_ = 0;
  noise_windows_ = kFirstNoiseWindows;
  surprise_ = 1;
  doubt_.forget();
  recent_squared_ = recent_alike_squared_ = recent_power_squared_ = 0;
  mean_share_ = {};
  correlation_ = {};
}

PowerFilter::Memory PowerFilter::memory() const {
  Memory memory{
      .first = first_, .first_variance = first_variance_, .age = age_, .relative_noise = relative_noise_};
  for (std::size_t p = 0; p < kFirstSlot; ++p) {
    memory.value[p] = state_[p];
    memory.variance[p] = covariance(p, p);
  }
  return memory;
}

void PowerFilter::restore(const Memory& memory) {
  std::ranges::fill(state_, 0);
  std::ranges::fill(covariance_, 0);
  first_ = memory.first;
  first_variance_ = memory.first_variance;
  for (std::size_t p = 0; p < kFirstSlot; ++p) {
    state_[p] = memory.value[p];
    q(p, p) = std::min(kRestoredVariance * memory.variance[p], first_variance_[p]);
  }
  for (std::size_t p = kFirstSlot; p < size_; ++p) q(p, p) = deviation_variance_;
  age_ = memory.age;
  relative_noise_ = memory.relative_noise;
  forget_errors();
  started_ = true;
}

void PowerFilter::loosen() {
  for (std::size_t p = kAwake; p < kFirstSlot; ++p) {
    const double raised = std::min(kLoosened * q(p, p), std::max(first_variance_[p], q(p, p)));
    if (q(p, p) > 0) scale(p, raised / q(p, p));
  }
}

double PowerFilter::dynamic(const PowerObservation& o) const {
  const double phi = speed(o) * (state_[kPerCpu] * core_use(o) - state_[kSibling] * o.siblings +
                                 state_[kUpper] * upper_load(o)) +
                     state_[kFrequency] * o.load * o.frequency;
  return std::max(phi, kLeastDynamic * state_[kPerCpu] * o.load);
}

double PowerFilter::workload_factor(const PowerObservation& o) const {
  double g = 0;
  for (std::size_t s = 0; s < kSlots; ++s) g += o.share[s] * (1 + (s < slots_ ? deviation(s) : 0));
  return g;
}

// Time passes: what was learned may no longer hold.
void PowerFilter::drift(const PowerObservation& o) {
  age_ += o.seconds;
  const double hours = o.seconds / 3600 * std::max(kLeastDrift, 1 / (1 + age_ / kSettled));
  const double least = 0.05 * o.watts;
  q(kIdle, kIdle) += hours * square(0.02 * std::max(state_[kIdle], least));
  q(kAwake, kAwake) += hours * square(0.05 * std::max(state_[kAwake], least));
  const double per_cpu = square(state_[kPerCpu]);
  q(kPerCpu, kPerCpu) += hours * square(0.10) * per_cpu;
  q(kSibling, kSibling) += hours * square(0.05) * per_cpu;
  q(kFrequency, kFrequency) += hours * square(0.07) * per_cpu;
  q(kUpper, kUpper) += hours * square(0.05) * per_cpu;
  if (slots_ == 1) return;
  const double kept = std::exp(-o.seconds / std::min(kLongestMemory, kSettled + age_));
  for (std::size_t a = kFirstSlot; a < size_; ++a) {
    state_[a] *= kept;
    for (std::size_t b = 0; b < kFirstSlot; ++b) q(a, b) = q(b, a) *= kept;
    for (std::size_t b = kFirstSlot; b < size_; ++b) q(a, b) *= square(kept);
    q(a, a) += (1 - square(kept)) * deviation_variance_;
  }
}

void PowerFilter::find_gradient(const PowerObservation& o, double phi, double g) {
  gradient_[kIdle] = 1;
  gradient_[kAwake] = o.awake;
  gradient_[kPerCpu] = g * speed(o) * core_use(o);
  gradient_[kSibling] = -g * speed(o) * o.siblings;
  gradient_[kFrequency] = g * o.load * o.frequency;
  gradient_[kUpper] = g * speed(o) * upper_load(o);
  for (std::size_t p = kFirstSlot; p < size_; ++p) gradient_[p] = phi * o.share[p - kFirstSlot];
}

double PowerFilter::learn(const PowerObservation& o) {
  drift(o);
  const double phi = o.load > 0 ? dynamic(o) : 0;
  const double g = workload_factor(o);
  const double active = state_[kAwake] * o.awake + phi * g;
  const double error = o.watts - state_[kIdle] - active;
  find_gradient(o, phi, g);
  double own = 0;  // the variance of the prediction that the state's explains
  for (std::size_t a = 0; a < size_; ++a) {
    gain_[a] = 0;
    for (std::size_t b = 0; b < size_; ++b) gain_[a] += q(a, b) * gradient_[b];
    own += gradient_[a] * gain_[a];
  }
  if (!(own >= 0) || !std::isfinite(error)) {
    fail();
    return error;
  }
  doubt_.find(o, {.awake = state_[kAwake], .per_cpu = is_memory() ? 0 : state_[kPerCpu], .dynamic = phi * g});
  const double noise =
      square(kSensorWatts) + square(kSensorShare * o.watts) + relative_noise_ * square(active);
  last_noise_ = noise + doubt_.squared();
  correct(error, own + correlation_.inflation(error, o.seconds) * last_noise_);
  centre(o);
  bound();
  judge(error, own, active, o);
  doubt_.judge(error, own + noise, noise);
  compare(error, phi, g);
  if (surprise_ > kSurprised && age_ >= kSurpriseFrom) reopen(o);
  ++windows_;
  return error;
}

void PowerFilter::correct(double error, double variance) {
  const double most = 4 * std::sqrt(variance);
  const double step = std::clamp(error, -most, most) / variance;
  for (std::size_t a = 0; a < size_; ++a) {
    state_[a] += gain_[a] * step;
    // Both halves are set from one, else rounding makes them differ more and more.
    for (std::size_t b = 0; b <= a; ++b) q(b, a) = q(a, b) -= gain_[a] * gain_[b] / variance;
  }
  bool sane = true;
  for (std::size_t a = 0; a < size_; ++a) sane = sane && q(a, a) >= 0 && std::isfinite(state_[a]);
  failures_ = sane ? 0 : failures_;
  if (!sane) fail();
}

// Only products of 1 + d with K, S, F and H can be observed. The mean of d, weighted by use, is 0 by its
// meaning, and is led back there without changing any prediction: within hours, they would wander off
// together.
void PowerFilter::centre(const PowerObservation& o) {
  if (o.load <= 0 || slots_ == 1) return;
  double mean = 0;
  for (std::size_t s = 0; s < kSlots; ++s) {
    mean_share_[s] += mean_weight(o.seconds, kShareSpan, windows_) * (o.share[s] - mean_share_[s]);
    mean += mean_share_[s] * deviation(s);
  }
  const double factor = 1 + mean * std::min(1.0, o.seconds / kCentreSpan);
  std::vector<double>& factors = gain_;
  std::ranges::fill(factors, 1);
  for (std::size_t p = kPerCpu; p < size_; ++p) {
    factors[p] = p < kFirstSlot ? factor : 1 / factor;
    state_[p] = p < kFirstSlot ? factor * state_[p] : (1 + state_[p]) / factor - 1;
  }
  for (std::size_t a = 0; a < size_; ++a)
    for (std::size_t b = 0; b < size_; ++b) q(a, b) *= factors[a] * factors[b];
}

void PowerFilter::fail() {
  if (++failures_ < 3) return;
  started_ = false;
  ++restarts_;
}

// Leads the state back within its bounds. What is known of the other parameters follows the power of being
// awake.
void PowerFilter::bound() {
  if (state_[kAwake] < 0) move(kAwake, 0);
  limit();
}

void PowerFilter::limit() {
  state_[kAwake] = std::max(state_[kAwake], 0.0);
  state_[kPerCpu] = std::max(state_[kPerCpu], kLeastPerCpu * first_[kPerCpu]);
  for (std::size_t p = kFirstSlot; p < size_; ++p)
    state_[p] = std::clamp(state_[p], kLeastDeviation, kMostDeviation);
}

// Learns how large errors usually are, and whether they are larger now. What the doubt explains is not usual.
void PowerFilter::judge(double error, double own, double active, const PowerObservation& o) {
  if (active > 0.1 * o.watts) {
    const double usual = std::max(0.0, square(error) - doubt_.squared());
    double seen = std::max(usual - own, 0.05 * usual);
    if (age_ > 60) seen = std::min(seen, 6 * (last_noise_ - doubt_.squared()));  // a jump is no noise
    relative_noise_ +=
        mean_weight(o.seconds, kNoiseSpan, noise_windows_++) * (seen / square(active) - relative_noise_);
  }
  surprise_ += mean_weight(o.seconds, 10, windows_) *
               (std::min(kMostSurprise, square(error) / (own + last_noise_)) - surprise_);
}

// Learns how large errors are now, and how large they would be if all workloads drew alike.
void PowerFilter::compare(double error, double phi, double g) {
  const auto add = [](double& mean, double value) { mean += (square(value) - mean) / kRecentWindows; };
  add(recent_squared_, error);
  add(recent_alike_squared_, error + phi * (g - 1));
  add(recent_power_squared_, phi * g);
}

// Whether the last windows were predicted badly, and clearly worse than if all workloads drew alike. In
// memory, where their powers differ more than any load shows, a few windows say too little.
bool PowerFilter::is_worse_than_nothing() const {
  return !is_memory() && recent_squared_ > square(kBad) * recent_power_squared_ &&
         recent_squared_ > kWorse * recent_alike_squared_;
}

// Something has changed: forgets how sure it was, most of all of the workloads that run now; and what it knew
// of them if that has become worse than nothing, as where many have changed at once.
void PowerFilter::reopen(const PowerObservation& o) {
  const double span = o.is_new ? kReopen : kReopenUsual;
  const bool forgets = is_worse_than_nothing();
  for (std::size_t p = kAwake; p < size_; ++p) {
    const double most = p < kFirstSlot ? first_variance_[p] : deviation_variance_;
    const double part = p < kFirstSlot ? o.seconds / span : o.share[p - kFirstSlot];
    const double raised = std::min(most, q(p, p) + part * most);
    if (raised > q(p, p) && q(p, p) > 0) scale(p, raised / q(p, p));
    if (p >= kFirstSlot && forgets) state_[p] *= std::max(0.0, 1 - part / kForgottenAt);
  }
}

// Scales the whole row and column, so that correlations stay as they are.
void PowerFilter::scale(std::size_t parameter, double variance_factor) {
  const double factor = std::sqrt(variance_factor);
  for (std::size_t other = 0; other < size_; ++other) {
    q(parameter, other) *= factor;
    q(other, parameter) *= factor;
  }
}

void PowerFilter::hold(Parameter p, double value, double deviation) {
  if (variance(p) > square(deviation)) {
    // A measurement as exact as needed for that.
    const double total = variance(p) + 1 / (1 / square(deviation) - 1 / variance(p));
    const double step = (value - state_[p]) / total;
    for (std::size_t a = 0; a < size_; ++a) gain_[a] = q(a, p);
    for (std::size_t a = 0; a < size_; ++a) {
      state_[a] += gain_[a] * step;
      for (std::size_t b = 0; b <= a; ++b) q(b, a) = q(a, b) -= gain_[a] * gain_[b] / total;
    }
  }
  keep_within(p, value, 2 * deviation);
}

void PowerFilter::keep_within(Parameter p, double value, double most) {
  const double off = state_[p] - value;
  if (std::abs(off) > most) move(p, value + std::copysign(most, off));
  bound();
  state_[p] = std::clamp(state_[p], value - most, value + most);
  limit();
}

// What is known of the others follows.
void PowerFilter::move(Parameter p, double value) {
  if (variance(p) <= 0) return;
  const double step = (value - state_[p]) / variance(p);
  for (std::size_t a = 0; a < size_; ++a) state_[a] += q(a, p) * step;
}

void PowerFilter::assign(std::size_t slot, double deviation, double variance) {
  if (slots_ == 1) return;
  const std::size_t p = kFirstSlot + slot;
  for (std::size_t other = 0; other < size_; ++other) q(p, other) = q(other, p) = 0;
  mean_share_[slot] = 0;
  state_[p] = deviation;
  q(p, p) = variance;
}

}  // namespace keplerd
