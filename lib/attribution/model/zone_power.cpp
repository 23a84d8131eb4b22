// SPDX-License-Identifier: Apache-2.0
#include "attribution/model/zone_power.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>

#include "attribution/model/arithmetic.h"
#include "attribution/model/presence.h"

namespace keplerd {
namespace {

constexpr double kLeastWatts = 0.1;    // a zone that draws less is not learned from
constexpr double kLeastActive = 1e-3;  // W; errors are in proportion to the active power

// A window is idle if so little of the zone was busy, for so little of the time.
constexpr double kIdleLoad = 0.02, kIdleAwake = 0.5;
constexpr double kBaseSpan = 300;        // s
constexpr double kDay = 86400;           // s, until it has aged
constexpr double kBaseSd = 0.02;         // of the base, as it is seen
constexpr double kFirstBaseSd = 0.1;     // in addition, over the number of windows
constexpr double kMostActiveBase = 0.3;  // of its power, drawn by the little that ran
constexpr double kEarly = 300;           // s
constexpr double kBaseAging = 0.005;     // of the base, times the square root of the hours since
constexpr double kUnseenDrift = 0.03;    // of what was learned of it, if never seen idle
constexpr double kLeastIdle = 0.1;       // of the power, as far as that bound is concerned
constexpr double kLoadSpan = 60;         // s
constexpr std::size_t kNewWindows = 900;
constexpr std::size_t kLearningWindows = 60;

// What is added to the uncertainty that the filters know of.
constexpr double kIdleSd = 0.06, kUnseenIdleSd = 0.30;  // of the idle power
constexpr double kModelSd = 0.08;                       // of a workload's energy
constexpr double kPresenceSd = 0.3;                     // of the part drawn by being awake
constexpr double kMostAwake = 0.72;                     // of the active energy

// The filters learn the power of being awake slowly, and where services never pause, they take some of theirs
// for it. Only what exceeds so many standard deviations of it is divided as such.
constexpr double kAwakeDoubt = 1;

// When a workload is unclear: of the use of the zone; of what was not known at first; s.
constexpr double kLeastUnclear = 0.05, kUnlearned = 0.5, kTimeToLearn = 600;

}  // namespace

struct ZonePower::Parts {
  double idle_watts = 0;
  double active_watts = 0;                // never near 0, as others are divided by it
  double awake = 0;                       // share of the active energy that is shared by who is awake
  double awake_sd = 0;                    // of that share, with what is not divided as such
  std::array<double, kSlots> learned{};   // share of each slot in the rest, by the learned filter
  std::array<double, kSlots> variance{};  // of the logarithm of a slot's blended share
};

ZonePower::ZonePower(ZoneKind kind, std::size_t slots)
    : kind_(kind),
      learned_(slots, kind == ZoneKind::kMemory ? kMemoryDeviationVariance : kDeviationVariance),
      pooled_(1, learned_.deviation_variance()),
      trust_(kind == ZoneKind::kMemory ? kMemoryTrust : kProcessorTrust) {}

double ZonePower::blend(double learned, double pooled) const {
  return trust() * learned + (1 - trust()) * pooled;
}

const PowerDivision& ZonePower::divide(const CpuWindow& window, const ZoneActivity& activity, double watts) {
  observe(window, activity, watts);
  divide_among(activity, watts);
  return division_;
}

// By what the part that is not drawn by being awake is shared.
std::span<const double> ZonePower::effective(const ZoneActivity& activity) const {
  return kind_ == ZoneKind::kMemory ? activity.use : activity.effective;
}

void ZonePower::observe(const CpuWindow& window, const ZoneActivity& activity, double watts) {
  workloads_.find(window.contenders, slots_);
  observation_ = {.watts = watts,
                  .seconds = window.seconds,
                  .load = activity.load,
                  .cpus = static_cast<double>(activity.cpus)};
  if (kind_ == ZoneKind::kProcessor) {
    observation_.awake = activity.awake;
    observation_.least_awake = activity.busiest;
    observation_.siblings = activity.siblings;
    observation_.frequency = last_frequency_;
  }
  if (activity.load <= 0) return;
  const std::span<const double> use = effective(activity);
  for (std::size_t g = 0; g < slots_.size(); ++g) observation_.share[slots_[g]] += use[g] / activity.load;
}

void ZonePower::learn(const CpuWindow& window, const ZoneActivity& activity, double watts,
                      std::span<const LearnedPowers> others) {
  workloads_.follow(window, activity.use, learned_);
  last_frequency_ = frequency_.follow(activity, window.seconds);
  observe(window, activity, watts);
  if (is_idle()) {
    learn_base(watts, window.seconds);
  } else {
    start_filters();
  }
  if (!has_filters()) return;
  now_ += window.seconds;
  ++unseen_.windows;
  observation_.is_new = sees_new_load(window.seconds);
  const double own = learned_.learn(observation_), alike = pooled_.learn(observation_);
  trust_.judge(own, alike, pooled_.noise(), window.seconds);
  hold_idle();
  deviations_ = agreed_deviations(powers(), others);
}

// Whether next to nothing ran.
bool ZonePower::is_idle() const {
  const PowerObservation& o = observation_;
  return o.load < kIdleLoad * o.cpus && o.awake < kIdleAwake;
}

// With what is known of the idle power; once more when that is seen early on, because then the first guess of
// all else was wrong, too.
void ZonePower::start_filters() {
  const PowerObservation& o = observation_;
  if (o.watts <= kLeastWatts || o.load <= 0) return;
  const std::optional<double> idle = fixed_idle_         ? fixed_idle_
                                     : base_.windows > 0 ? std::optional(base_watts())
                                                         : std::nullopt;
  const bool again = idle && !knew_idle_ && now_ < kEarly;
  for (PowerFilter* filter : {&learned_, &pooled_}) {
    if (filter->started() && !again) continue;
    filter->start(o, idle);
    unseen_ = {};
  }
  knew_idle_ = idle.has_value();
}

void ZonePower::loosen() {
  learned_.loosen();
  pooled_.loosen();
}

std::optional<ZonePower::Memory> ZonePower::memory() const {
  if (!has_filters()) return std::nullopt;
  return Memory{.frequency = frequency_.memory(),
                .learned = learned_.memory(),
                .pooled = pooled_.memory(),
                .trust = trust_.memory(),
                .base = base_,
                .base_age = now_ - base_seen_,
                .unseen = unseen_,
                .workloads = workloads_.memory(learned_)};
}

void ZonePower::restore(const Memory& memory) {
  frequency_.restore(memory.frequency);
  learned_.restore(memory.learned);
  pooled_.restore(memory.pooled);
  trust_.restore(memory.trust);
  base_ = memory.base;
  base_seen_ = now_ - memory.base_age;
  unseen_ = memory.unseen;
  mean_load_ = unseen_.least_load;
  knew_idle_ = true;
  workloads_.restore(memory.workloads);
}

// The power of windows in which next to nothing ran.
void ZonePower::learn_base(double watts, double seconds) {
  if (fixed_idle_ || watts <= 0) return;
  const double weight = mean_weight(seconds, kBaseSpan, base_.windows++);
  base_.watts += weight * (watts - base_.watts);
  base_.awake += weight * (observation_.awake - base_.awake);
  base_.load += weight * (observation_.load - base_.load);
  base_seen_ = now_;
}

// Without the little that ran.
double ZonePower::base_watts() const {
  if (!has_filters()) return base_.watts;
  const double active =
      learned_.value(PowerFilter::kAwake) * base_.awake + learned_.value(PowerFilter::kPerCpu) * base_.load;
  return base_.watts - std::min(active, kMostActiveBase * base_.watts);
}

// What is known of the idle power stays known: without this, hours of steady load would let it wander.
void ZonePower::hold_idle() {
  const double hours = (now_ - base_seen_) / 3600;
  for (PowerFilter* filter : {&learned_, &pooled_}) {
    if (!filter->started()) continue;
    if (fixed_idle_) {
      filter->hold(PowerFilter::kIdle, *fixed_idle_, kBaseSd * *fixed_idle_);
    } else if (base_.windows > 0) {
      const double young = kFirstBaseSd / static_cast<double>(base_.windows);
      filter->hold(PowerFilter::kIdle, base_watts(),
                   (kBaseSd + young + kBaseAging * std::sqrt(hours)) * base_watts());
    } else {
      double& unseen = filter == &learned_ ? unseen_.learned : unseen_.pooled;
      if (observation_.is_new) unseen = filter->value(PowerFilter::kIdle);
      const double most = kUnseenDrift * std::max(std::abs(unseen), kLeastIdle * observation_.watts);
      filter->keep_within(PowerFilter::kIdle, unseen, most);
    }
  }
}

// Whether a window may still say something about the host: at first, and later if the load is lower than
// ever before. The same loads for hours would only turn errors of the model, and changes of workloads, into
// power of the host; if that is never idle, into idle power.
bool ZonePower::sees_new_load(double seconds) {
  mean_load_ += mean_weight(seconds, kLoadSpan, unseen_.windows - 1) * (observation_.load - mean_load_);
  const bool is_least = mean_load_ < unseen_.least_load || unseen_.windows == 1;
  if (is_least) unseen_.least_load = mean_load_;
  return is_least || unseen_.windows <= kNewWindows;
}

IdleKnowledge ZonePower::idle_knowledge() const {
  if (has_base())
    return !fixed_idle_ && now_ - base_seen_ > kDay ? IdleKnowledge::kAged : IdleKnowledge::kBase;
  return unseen_.windows < kLearningWindows ? IdleKnowledge::kLearning : IdleKnowledge::kExtrapolated;
}

void ZonePower::divide_among(const ZoneActivity& activity, double watts) {
  const std::size_t count = activity.use.size();
  division_.share.assign(count, 0);
  division_.awake.assign(count, 0);
  division_.relative_sd.assign(count, 0);
  division_.idle_watts = watts;
  division_.idle_relative_sd = 0;
  const PowerObservation& o = observation_;
  if (o.load <= 0) return;
  if (!has_filters()) return divide_by_use(activity, watts);

  Parts parts;
  const auto idle = [&](const PowerFilter& filter) {
    return std::clamp(filter.value(PowerFilter::kIdle), 0.0, watts);
  };
  parts.idle_watts = division_.idle_watts = std::min(watts, blend(idle(learned_), idle(pooled_)));
  parts.active_watts = std::max({watts - parts.idle_watts, 0.02 * watts, kLeastActive});
  const auto awake = [&](const PowerFilter& filter, double g) {
    const double watts_awake = filter.value(PowerFilter::kAwake);
    const double sure = watts_awake - kAwakeDoubt * std::sqrt(filter.variance(PowerFilter::kAwake));
    const double active = watts_awake * o.awake + filter.dynamic(o) * g;
    return sure > 0 && active > 0 ? std::min(kMostAwake, sure * o.awake / active) : 0;
  };
  parts.awake = blend(awake(learned_, learned_.workload_factor(o)), awake(pooled_, 1));
  parts.awake_sd =
      std::hypot(1, kAwakeDoubt) *
      std::sqrt(blend(learned_.variance(PowerFilter::kAwake), pooled_.variance(PowerFilter::kAwake))) *
      o.awake / parts.active_watts;
  share_presence(activity.use, presence_);
  double factor = 0;
  for (std::size_t s = 0; s < kSlots; ++s) factor += parts.learned[s] = o.share[s] * (1 + deviations_[s]);
  for (double& share : parts.learned) share = factor > 0 ? share / factor : 0;
  find_slot_variances(parts);
  division_.idle_relative_sd = idle_deviation() / parts.active_watts;

  const std::span<const double> uses = effective(activity);
  for (std::size_t g = 0; g < count; ++g) {
    if (activity.use[g] <= 0) continue;
    const double alike = uses[g] / o.load;
    const std::size_t slot = slots_[g];
    const double own = o.share[slot] > 0 ? parts.learned[slot] * alike / o.share[slot] : 0;
    division_.awake[g] = parts.awake * presence_[g];
    division_.share[g] = division_.awake[g] + (1 - parts.awake) * blend(own, alike);
    division_.relative_sd[g] = relative_error(activity, parts, g);
  }
}

// Nothing but the idle power is known.
void ZonePower::divide_by_use(const ZoneActivity& activity, double watts) {
  if (base_.windows > 0) division_.idle_watts = std::min(watts, base_watts());
  for (std::size_t g = 0; g < activity.use.size(); ++g) {
    division_.share[g] = activity.use[g] / activity.load;
    division_.relative_sd[g] = 1;
  }
}

// By the delta method, from the covariances of the deviations d.
void ZonePower::find_slot_variances(Parts& parts) {
  const auto relative = [this](std::size_t a, std::size_t b) {
    return learned_.deviation_covariance(a, b) / ((1 + learned_.deviation(a)) * (1 + learned_.deviation(b)));
  };
  std::array<double, kSlots> with_mean{};  // covariance of a slot's d with the mean of all
  double mean = 0;
  for (std::size_t a = 0; a < kSlots; ++a) {
    if (observation_.share[a] <= 0) continue;
    for (std::size_t b = 0; b < kSlots; ++b)
      if (parts.learned[b] > 0) with_mean[a] += parts.learned[b] * relative(a, b);
    mean += parts.learned[a] * with_mean[a];
  }
  double shares_squared = 0;
  for (const double share : observation_.share) shares_squared += square(share);
  for (std::size_t s = 0; s < kSlots; ++s) {
    const double alike = observation_.share[s], own = parts.learned[s];
    if (alike <= 0) continue;
    const double known = std::max(0.0, relative(s, s) - 2 * with_mean[s] + mean);
    const double learned = known * std::clamp(learned_.surprise(), 1.0, 9.0);
    const double pooled = learned_.deviation_variance() * (1 - 2 * alike + shares_squared);
    const double blended = blend(own, alike);
    const double spread = blend(square(own - blended), square(alike - blended)) / square(blended);
    parts.variance[s] = blend(learned, pooled) + spread;
    if (s == 0) parts.variance[s] = std::max(parts.variance[s], learned_.deviation_variance());
    unlearned_[s] = pooled > 0 ? known / pooled : 0;
    share_sd_[s] = std::sqrt(parts.variance[s]);
  }
}

std::vector<ZonePower::Unclear> ZonePower::unclear() const {
  std::vector<Unclear> found;
  if (!has_filters() || observation_.load <= 0) return found;
  for (std::size_t s = 1; s < kSlots; ++s) {
    if (observation_.share[s] < kLeastUnclear || unlearned_[s] < kUnlearned) continue;
    const auto [workload, seconds] = workloads_.holder(s);
    if (workload != 0 && seconds >= kTimeToLearn)
      found.push_back({workload, observation_.share[s], share_sd_[s]});
  }
  std::ranges::sort(found, std::greater<>{}, &Unclear::share);
  return found;
}

double ZonePower::idle_watts() const {
  return std::max(0.0, blend(learned_.value(PowerFilter::kIdle), pooled_.value(PowerFilter::kIdle)));
}

double ZonePower::idle_deviation() const { return blend(idle_deviation(learned_), idle_deviation(pooled_)); }

double ZonePower::idle_deviation(const PowerFilter& filter) const {
  const double share = has_base() ? kIdleSd : kUnseenIdleSd;
  return std::sqrt(filter.variance(PowerFilter::kIdle) + square(share * division_.idle_watts));
}

double ZonePower::relative_error(const ZoneActivity& activity, const Parts& parts, std::size_t g) const {
  const double share = division_.share[g];
  if (share <= 0) return 0;
  const std::size_t slot = slots_[g];
  const double present = presence_[g];
  const double alike = observation_.share[slot];
  const double rest =
      alike > 0 ? blend(parts.learned[slot], alike) / alike * effective(activity)[g] / activity.load : 0;
  return std::sqrt(square((1 - parts.awake) * rest / share) * parts.variance[slot] +
                   square((present - rest) / share * parts.awake_sd) + square(division_.idle_relative_sd) +
                   square(kModelSd) + square(kPresenceSd * parts.awake * present / share));
}

}  // namespace keplerd
