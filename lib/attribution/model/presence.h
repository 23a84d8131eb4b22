// SPDX-License-Identifier: Apache-2.0
// Who pays for a processor being awake. What it draws while any CPU is awake is shared, at each instant, by
// those that are awake then (the Shapley value). When that was is not known, only how much each has used: the
// chances to be awake are taken for independent of each other. Who is rarely awake gets less than in
// proportion to its chance: at each such instant, it is one of those that share.
#pragma once

#include <span>
#include <vector>

namespace keplerd {

// The chance that a workload with this use, in busy CPUs, is awake at an instant: the mean of that of one
// with many threads, each of which runs at any time, and of one with as few as possible.
double presence(double use);

// The share of each in what is drawn while any is awake: the sum is 1, or all are 0 if nothing is used.
// Exact for up to eight workloads, and off by less than a percent for usual hosts with more.
void share_presence(std::span<const double> use, std::vector<double>& shares);

}  // namespace keplerd
