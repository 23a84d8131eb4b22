// SPDX-License-Identifier: Apache-2.0
// Learns what a zone draws for what: an extended Kalman filter of the zone's power,
//   P   = I + C a + g phi
//   phi = v (K (X - 2 (1 - eta) O) - S O + H max(0, X - cpus/2)) + F X L,   v = exp(1.5 L)
//   g   = sum over slots s of b_s (1 + d_s)
// with the parameters
//   I  W   drawn even if nothing runs             C  W  drawn while any CPU is awake
//   K  W   drawn by a busy CPU                    S  W  correction for a core with two busy siblings
//   F  W   correction for the frequency           H  W  correction for the upper half of the load
//   d_s    how much more than others the workload of slot s draws for the same use; 0: as much
// and, of a window, X busy CPUs, a the chance that any was awake, O cores with two busy siblings, L =
// ln(frequency / the first readings), b_s the part of the use that is slot s's, and eta = kSiblingShare.
// Power is in watts, time in seconds. Pure arithmetic on doubles; nothing fails: a filter that lost its
// footing starts over.
//
// More than 20 methods: the steps of one correction change the same state and covariance, and each figure
// that the zone's model needs is read by one.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <vector>

#include "attribution/model/error_correlation.h"
#include "attribution/model/power_observation.h"
#include "attribution/model/window_doubt.h"

namespace keplerd {

// The variance of d between workloads about which nothing is known: on processors they differ by a third of
// their power, in memory by more.
inline constexpr double kDeviationVariance = 0.09;
inline constexpr double kMemoryDeviationVariance = 0.64;
inline constexpr double kLeastDeviation = -0.7, kMostDeviation = 2.5;  // of d

class PowerFilter {
 public:
  enum Parameter : std::size_t { kIdle, kAwake, kPerCpu, kSibling, kFrequency, kUpper, kFirstSlot };

  // What is worth keeping for another run.
  struct Memory {
    std::array<double, kFirstSlot> value{}, variance{};
    std::array<double, kFirstSlot> first{}, first_variance{};  // at the start
    double age = 0;
    double relative_noise = 0;
  };

  // With `slots` 1 there is slot 0 only and its d is always 0: all workloads draw alike ("pooled").
  explicit PowerFilter(std::size_t slots, double deviation_variance = kDeviationVariance);

  bool started() const { return started_; }
  // Starts from usual values for a zone that drew this much at this load, which must be more than 0, and of
  // which the idle power is known, or not.
  void start(const PowerObservation& first, std::optional<double> idle = {});

  Memory memory() const;
  // Starts from what another filter had learned, less sure of it.
  void restore(const Memory& memory);

  // Learns from a window; returns by how many watts its power was above the prediction.
  double learn(const PowerObservation& observation);

  // Makes a parameter at most as uncertain as `deviation`, and keeps it within two deviations of `value`:
  // somebody knows it from elsewhere.
  void hold(Parameter parameter, double value, double deviation);

  // Keeps a parameter within `most` of `value`; it stays as uncertain as it is.
  void keep_within(Parameter parameter, double value, double most);

  // The machine has changed: its idle power has not, but all else may have.
  void loosen();

  // Another workload has the slot, with what was known of it. Does nothing without slots.
  void assign(std::size_t slot, double deviation, double variance);

  // What is drawn for a load, if all workloads draw alike: phi, at least 0.
  double dynamic(const PowerObservation& observation) const;

  double workload_factor(const PowerObservation& observation) const;  // g

  double value(Parameter parameter) const { return state_[parameter]; }
  double variance(Parameter parameter) const { return covariance(parameter, parameter); }
  double deviation(std::size_t slot) const { return slots_ > 1 ? state_[kFirstSlot + slot] : 0; }
  double deviation_covariance(std::size_t a, std::size_t b) const {
    return slots_ > 1 ? covariance(kFirstSlot + a, kFirstSlot + b) : 0;
  }
  double deviation_variance() const { return deviation_variance_; }
  double noise() const { return last_noise_; }   // W^2, in the last window
  double surprise() const { return surprise_; }  // mean square error, over what was expected; usually near 1
  std::size_t restarts() const { return restarts_; }

 private:
  double covariance(std::size_t a, std::size_t b) const { return covariance_[a * size_ + b]; }
  double& q(std::size_t a, std::size_t b) { return covariance_[a * size_ + b]; }
  void drift(const PowerObservation& observation);
  void find_gradient(const PowerObservation& observation, double phi, double g);
  void correct(double error, double variance);
  void judge(double error, double own, double active, const PowerObservation& observation);
  void compare(double error, double phi, double g);
  bool is_memory() const { return deviation_variance_ > kDeviationVariance; }
  bool is_worse_than_nothing() const;
  void reopen(const PowerObservation& observation);
  void centre(const PowerObservation& observation);
  void scale(std::size_t parameter, double variance_factor);
  void forget_errors();
  void bound();
  void limit();
  void move(Parameter parameter, double value);
  void fail();

  std::size_t slots_;
  std::size_t size_;  // of the state
  double deviation_variance_;
  bool started_ = false;
  std::vector<double> state_, gradient_, gain_;
  std::vector<double> covariance_;
  std::array<double, kFirstSlot> first_{}, first_variance_{};
  double age_ = 0;  // s of learning
  std::size_t windows_ = 0;
  std::size_t failures_ = 0, restarts_ = 0;

  std::array<double, kSlots> mean_share_{};  // b, its mean

  double relative_noise_ = 0;  // variance of the model's error, of the square of the active power
  std::size_t noise_windows_ = 0;
  double last_noise_ = 0;  // W^2, with the doubt
  WindowDoubt doubt_;
  double surprise_ = 1;
  // W^2, means of the last windows: of the error, of the error if all workloads drew alike, of their power.
  double recent_squared_ = 0, recent_alike_squared_ = 0, recent_power_squared_ = 0;
  ErrorCorrelation correlation_;
};

}  // namespace keplerd
