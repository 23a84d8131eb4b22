// SPDX-License-Identifier: Apache-2.0
#include "accuracy/measured_host.h"

#include <algorithm>
#include <fstream>
#include <utility>

#include <nlohmann/json.hpp>

namespace keplerd::accuracy {
namespace {

constexpr double kNoise = 0.005;                  // of the power of a window
constexpr double kShortest = 30, kLongest = 120;  // s, of a segment
constexpr double kIdleShare = 0.1;                // of the segments

}  // namespace

MeasuredHost::MeasuredHost(const std::filesystem::path& pairs, std::uint64_t seed)
    : Host({.packages = 1, .cores = 6, .threads_per_core = 2}, {}), random_(seed) {
  std::ifstream file(pairs);
  file.exceptions(std::ios::failbit);
  const auto figures = nlohmann::json::parse(file);
  idle_watts_ = figures.at("idleWatts");
  segments_.push_back({{}, idle_watts_});
  std::map<std::string, std::size_t> workloads;
  const auto workload = [&](const std::string& method) {
    const auto [found, is_new] = workloads.emplace(method, workloads_.size());
    if (is_new) workloads_.emplace_back().name = method;
    return found->second;
  };
  std::map<std::pair<std::string, int>, double> solo;
  for (const auto& run : figures.at("solo")) {
    const std::string method = run.at("method");
    const int threads = run.at("threads");
    const double watts = solo[{method, threads}] = run.at("watts");
    segments_.push_back({{{workload(method), threads, watts - idle_watts_}}, watts});
  }
  for (const auto& pair : figures.at("pairs")) {
    const std::string a = pair.at("a"), b = pair.at("b");
    const int threads_a = pair.at("threadsA"), threads_b = pair.at("threadsB");
    const auto alone_a = solo.find({a, threads_a}), alone_b = solo.find({b, threads_b});
    if (alone_a == solo.end() || alone_b == solo.end()) continue;
    const double both = pair.at("watts");
    const double gets_a = (alone_a->second - idle_watts_ + both - alone_b->second) / 2;
    segments_.push_back(
        {{{workload(a), threads_a, gets_a}, {workload(b), threads_b, both - idle_watts_ - gets_a}}, both});
  }
  // What a host always runs; too little to be seen in its power.
  workloads_.emplace_back().name = "system";
}

void MeasuredHost::choose_segment() {
  std::uniform_int_distribution<std::size_t> any(1, segments_.size() - 1);
  const bool idle = now_ == 0 || std::uniform_real_distribution<double>()(random_) < kIdleShare;
  segment_ = &segments_[idle ? 0 : any(random_)];
  segment_ends_ =
      now_ + (now_ == 0 ? kLongest : std::uniform_real_distribution<double>(kShortest, kLongest)(random_));
}

const Window& MeasuredHost::run(double seconds) {
  if (now_ >= segment_ends_) choose_segment();
  window_ = {.start = now_, .seconds = seconds, .energy = {}, .busy = {}, .khz = {}, .usage = {}};
  window_.busy.assign(static_cast<std::size_t>(processors_.cpus()), 0);
  window_.khz.assign(window_.busy.size(), 0);
  int threads = 0;
  for (std::size_t i = 0; i + 1 < workloads_.size(); ++i) window_.usage.push_back({i, 0, 0});
  for (const Run& run : segment_->runs) {
    threads += run.threads;
    window_.usage[run.workload].cpu_seconds += run.threads * seconds;
    window_.usage[run.workload].truth += run.truth * seconds;
  }
  threads = std::min(threads, processors_.cpus());
  std::fill_n(window_.busy.begin(), threads, 1.0);
  constexpr double kSystem = 0.005;
  window_.busy.back() = std::max(window_.busy.back(), kSystem);
  window_.usage.push_back({workloads_.size() - 1, kSystem * seconds, 0});
  const double noise = 1 + kNoise * std::normal_distribution<double>()(random_);
  window_.energy.push_back(segment_->watts * noise * seconds);
  window_.idle = idle_watts_ * seconds;
  now_ += seconds;
  return window_;
}

}  // namespace keplerd::accuracy
