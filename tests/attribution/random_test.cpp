// SPDX-License-Identifier: Apache-2.0
// Random hosts and windows, with fixed seeds: the invariants hold whatever happens, and nothing is lost over
// time.
#include <algorithm>
#include <random>

#include <gtest/gtest.h>

#include "attribution/attributor.h"
#include "attribution/invariants.h"
#include "attribution/make_model.h"
#include "attribution/number_host.h"

namespace keplerd {
namespace {

using namespace std::chrono_literals;

class RandomHost {
 public:
  explicit RandomHost(std::uint64_t seed)
      : random_(seed), host_({package_zone(0), package_zone(1), dram_zone(0), dram_zone(1)}) {
    attributor_.set_zones(host_.zones());
    drawn_.resize(host_.zones().size());
    known_.resize(drawn_.size());
    for (std::size_t i = below(12); i > 0; --i) add_group();
    for (std::size_t i = below(30); i > 0; --i) add_process();
    if (chance(3)) host_.keep_interrupts_apart();
    for (std::size_t zone = 0; zone < drawn_.size(); ++zone) {
      if (chance(3)) host_.set_counter(host_.zones()[zone].range - Microjoules{50'000'000}, zone);
    }
  }

  void window() {
    change();
    run();
    draw();
    const Sample sample = host_.sample(1ms + Nanoseconds(static_cast<std::int64_t>(below(3'000'000'000))));
    const Attribution& result = attributor_.attribute(sample);
    std::vector<Microjoules> deltas;
    for (std::size_t zone = 0; zone < drawn_.size(); ++zone) {
      const bool reported = sample.readings[zone].ok() && known_[zone];
      deltas.push_back(reported ? drawn_[zone] : Microjoules{});
      if (!sample.readings[zone]) continue;
      drawn_[zone] = {};
      known_[zone] = true;
    }
    expect_invariants(result, sample, deltas);
    deferred_.window(result, sample);
  }

 private:
  std::uint64_t below(std::uint64_t bound) { return random_() % bound; }
  bool chance(std::uint64_t one_in) { return below(one_in) == 0; }

  int any_group(bool or_root = true) {
    if (groups_.empty() || (or_root && chance(6))) return NumberHost::kRoot;
    return groups_[below(groups_.size())].first;
  }

  void add_group() {
    const int parent = any_group();
    groups_.emplace_back(host_.add_group(parent), parent);
  }
  void add_process() {
    const auto kind = chance(5) ? NumberHost::Kind::kKernelThread : NumberHost::Kind::kOrdinary;
    const int group = any_group();
    processes_.emplace_back(host_.add_process(group, kind), group);
  }
  void remove_group() {
    const int group = any_group(false);
    if (group == NumberHost::kRoot) return;
    const bool has_child = std::ranges::any_of(groups_, [&](const auto& g) { return g.second == group; });
    if (has_child) return;
    host_.remove_group(group);
    std::erase_if(groups_, [&](const auto& g) { return g.first == group; });
    std::erase_if(processes_, [&](const auto& p) { return p.second == group; });
  }

  void change() {
    if (chance(3)) add_group();
    if (chance(4)) remove_group();
    for (std::size_t i = below(4); i > 0; --i) add_process();
    if (!processes_.empty() && chance(3)) {
      auto& [process, group] = processes_[below(processes_.size())];
      group = any_group();
      host_.move_process(process, group);
    }
    for (const auto& [group, parent] : groups_) {
      if (chance(4)) host_.read_processes(group, chance(2));
    }
    if (!processes_.empty() && chance(3)) {
      host_.end_process(processes_.back().first);
      processes_.pop_back();
    }
  }

  void run() {
    if (chance(8)) return;
    for (const auto& [process, group] : processes_) {
      if (chance(2)) host_.run(process, time());
    }
    for (const auto& [group, parent] : groups_) {
      if (chance(5)) host_.run_group(group, time());
      if (chance(6)) host_.skew(group, time());
    }
    host_.run_ticks(static_cast<std::int64_t>(below(200)), static_cast<std::int64_t>(below(200)) - 20,
                    static_cast<std::int64_t>(below(5)));
  }
  Nanoseconds time() { return Nanoseconds(static_cast<std::int64_t>(random_() >> (35 + below(28)))); }

  void draw() {
    for (std::size_t zone = 0; zone < drawn_.size(); ++zone) {
      host_.fail(chance(10), zone);
      // At most what differs from a reset even in the shortest window: 200 W of DRAM for a
      // second.
      const Microjoules energy{static_cast<std::int64_t>(below(10) == 0 ? 0 : below(20'000'000))};
      host_.draw(energy, zone);
      drawn_[zone] += energy;
    }
  }

  std::mt19937_64 random_;
  NumberHost host_;
  Attributor attributor_{make_model()};
  std::vector<std::pair<int, int>> groups_;     // and their parents
  std::vector<std::pair<int, int>> processes_;  // and their groups
  std::vector<Microjoules> drawn_;              // since the last good reading
  std::vector<bool> known_;                     // has had a good reading
  ExpectDeferred deferred_;
};

class RandomHosts : public testing::TestWithParam<std::uint64_t> {};

TEST_P(RandomHosts, KeepEveryInvariant) {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    RandomHost host(GetParam() * 1000 + seed);
    for (int window = 0; window < 20; ++window) {
      SCOPED_TRACE(testing::Message() << "seed " << GetParam() * 1000 + seed << ", window " << window);
      host.window();
      if (testing::Test::HasFailure()) return;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomHosts, testing::Range<std::uint64_t>(1, 9));

}  // namespace
}  // namespace keplerd
